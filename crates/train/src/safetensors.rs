//! Float weights as safetensors: the header's length in 8 bytes, a JSON header, then little-endian numbers,
//! row by row.
//!
//! Tensors: `l0w [row][neuron]` (factoriser weights added), `l0b [neuron]`, `psqt [row][output bucket]` if
//! there are piece-square values, then `l1w [output bucket][output][input]`, `l1b` and so on. An output of 1
//! is 400 centipawns.

use serde_json::{Map, Value, json};

use super::model::{Model, pairs};

/// Name, shape and values.
type Tensor = (String, Vec<usize>, Vec<f32>);

fn tensors(model: &Model) -> Vec<Tensor> {
    let (layout, architecture) = (&model.layout, &model.layout.architecture);
    let (hidden, buckets) = (architecture.hidden, architecture.output_buckets);
    let at = |at: usize| model.parameters[at];
    let features = pairs(layout.rows, hidden).map(|(r, n)| model.feature(r, n)).collect();
    let biases = (0..hidden).map(|n| at(layout.bias_at(n))).collect();
    let mut tensors =
        vec![("l0w".into(), vec![layout.rows, hidden], features), ("l0b".into(), vec![hidden], biases)];
    if architecture.psqt {
        let values = pairs(layout.rows, buckets).map(|(r, b)| model.value(r, b)).collect();
        tensors.push(("psqt".into(), vec![layout.rows, buckets], values));
    }
    for (layer, [inputs, outputs]) in architecture.dense().into_iter().enumerate() {
        let (mut weights, mut biases) = (Vec::new(), Vec::new());
        for bucket in 0..buckets {
            let weight = |(o, i)| at(layout.weight_at(bucket, layer, o, i));
            weights.extend(pairs(outputs, inputs).map(weight));
            biases.extend((0..outputs).map(|o| at(layout.dense_bias_at(bucket, layer, o))));
        }
        tensors.push((format!("l{}w", layer + 1), vec![buckets, outputs, inputs], weights));
        tensors.push((format!("l{}b", layer + 1), vec![buckets, outputs], biases));
    }
    tensors
}

pub(super) fn safetensors(model: &Model, about: &str) -> Vec<u8> {
    let tensors = tensors(model);
    let mut header = Map::new();
    let architecture = model.layout.architecture.to_string();
    header.insert("__metadata__".to_string(), json!({ "architecture": architecture, "description": about }));
    let mut end = 0;
    for (name, shape, values) in &tensors {
        let start = end;
        end += 4 * values.len();
        let entry = json!({ "dtype": "F32", "shape": shape, "data_offsets": [start, end] });
        header.insert(name.clone(), entry);
    }
    let mut text = Value::Object(header).to_string().into_bytes();
    text.resize(text.len().next_multiple_of(8), b' ');
    let mut bytes = (text.len() as u64).to_le_bytes().to_vec();
    bytes.extend(text);
    for (_, _, values) in &tensors {
        bytes.extend(values.iter().flat_map(|x| x.to_le_bytes()));
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_weight_is_where_the_header_says() {
        for architecture in crate::tests::shapes() {
            let model = Model::random(&architecture, true, 2);
            let bytes = safetensors(&model, "x");
            let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
            let header: Value = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
            let data = &bytes[8 + length..];
            let mut parameters = 0;
            for (name, entry) in header.as_object().unwrap() {
                if name != "__metadata__" {
                    let count: u64 =
                        entry["shape"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).product();
                    let offsets = &entry["data_offsets"];
                    assert_eq!(offsets[1].as_u64().unwrap() - offsets[0].as_u64().unwrap(), 4 * count);
                    parameters += count as usize;
                }
            }
            assert_eq!(data.len(), 4 * parameters, "{architecture}");
            // The K of a WDL head is no weight.
            let others = usize::from(architecture.wdl_head);
            assert_eq!(parameters + others, architecture.parameters(), "{architecture}");
            let start = header["l1w"]["data_offsets"][0].as_u64().unwrap() as usize + 4;
            let second = f32::from_le_bytes(data[start..start + 4].try_into().unwrap());
            assert_eq!(second, model.parameters[model.layout.weight_at(0, 0, 0, 1)]);
        }
    }
}
