//! bullet's `optimiser_state/weights.bin`: the weights of a training in floats, each tensor with its name, the
//! factoriser among them.

use std::collections::BTreeMap;

use crate::nnue::BodyError;

/// The `raw.bin` of a state: the factoriser's weights are added to the weights of each king bucket. `None` for another
/// file.
pub fn raw_of_state(bytes: &[u8]) -> Option<Result<Vec<u8>, BodyError>> {
    tensors(bytes).map(merged)
}

fn merged(mut tensors: BTreeMap<&str, &[u8]>) -> Result<Vec<u8>, BodyError> {
    let names = tensors.keys().copied().collect::<Vec<_>>().join(", ");
    let missing =
        |name: &str| BodyError(format!("holds the tensors {names}, not the {name} of bullet's examples"));
    let mut take = |name: &str| tensors.remove(name).ok_or_else(|| missing(name));
    let (mut rows, shared, bias) = (floats(take("l0w")?), take("l0f"), take("l0b")?);
    if let Ok(shared) = shared.map(floats) {
        if shared.is_empty() || !rows.len().is_multiple_of(shared.len()) {
            return Err(BodyError("l0f is no part of l0w".into()));
        }
        rows.iter_mut().zip(shared.iter().cycle()).for_each(|(own, shared)| *own += shared);
    }
    let mut raw: Vec<u8> = rows.into_iter().flat_map(f32::to_le_bytes).collect();
    raw.extend(bias);
    for layer in 1.. {
        let Ok(weights) = take(&format!("l{layer}w")) else { break };
        raw.extend(weights);
        raw.extend(take(&format!("l{layer}b"))?);
    }
    match tensors.first_key_value() {
        Some((name, _)) => {
            Err(BodyError(format!("holds the tensor {name}, which bullet's examples have not")))
        }
        None => Ok(raw),
    }
}

/// Names and numbers of tensors: the name and a line feed, how many numbers, and these, to the end of the file.
fn tensors(mut rest: &[u8]) -> Option<BTreeMap<&str, &[u8]>> {
    let mut tensors = BTreeMap::new();
    while !rest.is_empty() {
        let end = rest.iter().take(64).position(|byte| *byte == b'\n')?;
        let name =
            std::str::from_utf8(&rest[..end]).ok().filter(|name| name.is_ascii() && !name.is_empty())?;
        let (count, numbers) = rest[end + 1..].split_first_chunk()?;
        let size = usize::try_from(u64::from_le_bytes(*count)).ok()?.checked_mul(4)?;
        let (numbers, after) = numbers.split_at_checked(size)?;
        tensors.insert(name, numbers);
        rest = after;
    }
    (!tensors.is_empty()).then_some(tensors)
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(tensors: &[(&str, &[f32])]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (name, numbers) in tensors {
            bytes.extend([name.as_bytes(), b"\n", &(numbers.len() as u64).to_le_bytes()].concat());
            bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
        }
        bytes
    }

    #[test]
    fn the_factoriser_is_added_to_each_bucket() {
        let tensors: [(&str, &[f32]); 5] = [
            ("l0b", &[0.5]),
            ("l0f", &[10.0, 20.0]),
            ("l0w", &[1.0, 2.0, 3.0, 4.0]),
            ("l1b", &[7.0]),
            ("l1w", &[6.0, 5.0]),
        ];
        let raw = raw_of_state(&state(&tensors)).unwrap().unwrap();
        assert_eq!(floats(&raw), [11.0, 22.0, 13.0, 24.0, 0.5, 6.0, 5.0, 7.0]);
        assert!(raw_of_state(&raw).is_none() && raw_of_state(b"").is_none());
        for (others, reason) in [
            (&[("l0b", &[0.5][..])][..], "not the l0w"),
            (&[("l0w", &[1.0][..]), ("l0b", &[1.0]), ("x", &[1.0])], "the tensor x"),
            (&[("l0w", &[1.0][..]), ("l0f", &[1.0, 2.0]), ("l0b", &[1.0])], "no part"),
        ] {
            let error = raw_of_state(&state(others)).unwrap().unwrap_err();
            assert!(error.to_string().contains(reason), "{error}");
        }
    }
}
