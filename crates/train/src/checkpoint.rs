//! Checkpoints: the complete state of a run between two epochs. A resumed run gives the bytes of an
//! uninterrupted one.
//!
//! Layout: `PATZTRAI`, the hash of settings and positions (64 characters), 8-byte numbers and vectors of
//! 32-bit floats, little-endian, each vector after its length, the device name likewise, what earlier stages have
//! left, and the SHA-256 of it all.

use sha2::{Digest, Sha256};

use super::{Earlier, Epoch, Keep};

const MAGIC: &[u8; 8] = b"PATZTRAI";
const HASH: usize = 64;

/// Tests for the magic number of a checkpoint.
pub fn is_checkpoint(head: &[u8]) -> bool {
    head.starts_with(MAGIC)
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Checkpoint {
    pub hash: String,
    pub step: u64,
    pub optimiser_steps: u64,
    pub epochs: Vec<Epoch>,
    pub best_epoch: u64,
    pub best_loss: f64,
    /// Parameters, best parameters, optimiser moments, averaged weights.
    pub vectors: Vec<Vec<f32>>,
    pub device: String,
    pub earlier: Earlier,
}

/// Handover of a checkpoint's finished stages; `None` if the checkpoint is damaged.
pub fn resume_point(bytes: &[u8]) -> Option<Earlier> {
    Checkpoint::parse(bytes).map(|checkpoint| checkpoint.earlier)
}

fn write_epochs(epochs: &[Epoch], bytes: &mut Vec<u8>) {
    let mut number = |n: u64| bytes.extend(n.to_le_bytes());
    number(epochs.len() as u64);
    for epoch in epochs {
        number(epoch.epoch as u64);
        number(epoch.train_loss.to_bits());
        number(epoch.validation_loss.is_some().into());
        for x in
            [epoch.validation_loss.unwrap_or(0.0), epoch.learning_rate.into(), epoch.positions_per_second]
        {
            number(x.to_bits());
        }
    }
}

fn write_floats(floats: &[f32], bytes: &mut Vec<u8>) {
    bytes.extend((floats.len() as u64).to_le_bytes());
    bytes.extend(floats.iter().flat_map(|x| x.to_le_bytes()));
}

impl Checkpoint {
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(format!("{:HASH$}", self.hash).as_bytes());
        for n in [self.step, self.optimiser_steps, self.best_epoch, self.best_loss.to_bits()] {
            bytes.extend(n.to_le_bytes());
        }
        write_epochs(&self.epochs, &mut bytes);
        bytes.extend((self.vectors.len() as u64).to_le_bytes());
        self.vectors.iter().for_each(|vector| write_floats(vector, &mut bytes));
        bytes.extend((self.device.len() as u64).to_le_bytes());
        bytes.extend(self.device.as_bytes());
        let Earlier { stages, k, weights, epochs } = &self.earlier;
        bytes.extend(stages.to_le_bytes());
        // 0 is no K.
        bytes.extend(f64::from(k.unwrap_or(0.0)).to_le_bytes());
        write_floats(weights, &mut bytes);
        write_epochs(epochs, &mut bytes);
        let digest = Sha256::digest(&bytes);
        bytes.extend(digest);
        bytes
    }

    /// Returns `None` unless the bytes are those that were written.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Checkpoint> {
        let (body, digest) = bytes.split_at_checked(bytes.len().checked_sub(32)?)?;
        if Sha256::digest(body)[..] != *digest {
            return None;
        }
        read(&mut body.strip_prefix(MAGIC)?)
    }

    /// Finds the first field that no run of this shape could have saved: a checksum alone proves no origin.
    pub(crate) fn fault(&self, shape: &RunShape) -> Option<&'static str> {
        let RunShape { parameters, batches, epochs, start, keep } = *shape;
        let done = self.epochs.len();
        let value = |epoch: &Epoch| epoch.validation_loss.unwrap_or(epoch.train_loss);
        let sound = |(number, epoch): (usize, &Epoch)| {
            epoch.epoch == number
                && epoch.validation_loss.is_some() == self.epochs[0].validation_loss.is_some()
                && epoch.train_loss.is_finite()
                && value(epoch).is_finite()
                && epoch.learning_rate.is_finite()
                && epoch.positions_per_second.is_finite()
        };
        let best =
            usize::try_from(self.best_epoch).ok().and_then(|best| self.epochs.get(best.checked_sub(1)?));
        let lowest = self.epochs.iter().map(value).fold(f64::INFINITY, f64::min);
        let checks = [
            ((1..=epochs).contains(&done) && (1..).zip(&self.epochs).all(sound), "its epochs"),
            (
                match best {
                    Some(best) => {
                        let kept =
                            if keep == Keep::Best { self.best_loss == lowest } else { best.epoch == done };
                        value(best) == self.best_loss && kept
                    }
                    None => {
                        let near = |loss: f64| (loss - self.best_loss).abs() <= 1e-3 * loss;
                        keep == Keep::Best
                            && self.best_epoch == 0
                            && start.is_some_and(near)
                            && self.best_loss <= lowest
                    }
                },
                "its best epoch",
            ),
            (self.step == batches * done as u64, "its number of steps"),
            (self.optimiser_steps <= self.step, "its optimiser's number of steps"),
            (
                self.vectors.len() >= 2 && self.vectors.iter().all(|v| v.len() == parameters),
                "its number of weights",
            ),
            (self.vectors.iter().flatten().all(|x| x.is_finite()), "its weights"),
        ];
        checks.iter().find(|(sound, _)| !sound).map(|(_, field)| *field)
    }
}

/// Shape of a run, to check a checkpoint against.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RunShape {
    pub parameters: usize,
    /// Steps an epoch.
    pub batches: u64,
    /// The most epochs.
    pub epochs: usize,
    /// Validation loss of the start, which another device may round.
    pub start: Option<f64>,
    pub keep: Keep,
}

fn take<'a>(rest: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (head, tail) = rest.split_at_checked(count)?;
    *rest = tail;
    Some(head)
}

fn number(rest: &mut &[u8]) -> Option<u64> {
    Some(u64::from_le_bytes(take(rest, 8)?.try_into().ok()?))
}

fn float(rest: &mut &[u8]) -> Option<f64> {
    number(rest).map(f64::from_bits)
}

fn read(rest: &mut &[u8]) -> Option<Checkpoint> {
    let hash = String::from_utf8_lossy(take(rest, HASH)?).trim_end().to_string();
    let (step, optimiser_steps, best_epoch) = (number(rest)?, number(rest)?, number(rest)?);
    let best_loss = float(rest)?;
    let epochs = read_epochs(rest)?;
    let count = number(rest)?;
    let mut vectors = Vec::new();
    for _ in 0..count {
        vectors.push(read_floats(rest)?);
    }
    // Older versions trained on the CPU only and wrote no device.
    let device = match number(rest) {
        Some(length) => String::from_utf8_lossy(take(rest, usize::try_from(length).ok()?)?).into_owned(),
        None => "cpu".to_string(),
    };
    // They also knew no stages.
    let earlier = match number(rest) {
        Some(stages) => Earlier {
            stages,
            k: Some(float(rest)? as f32).filter(|k| *k > 0.0),
            weights: read_floats(rest)?,
            epochs: read_epochs(rest)?,
        },
        None => Earlier::default(),
    };
    Some(Checkpoint { hash, step, optimiser_steps, epochs, best_epoch, best_loss, vectors, device, earlier })
}

fn read_epochs(rest: &mut &[u8]) -> Option<Vec<Epoch>> {
    let count = number(rest)?;
    let mut epochs = Vec::new();
    for _ in 0..count {
        let epoch = number(rest)? as usize;
        let train_loss = float(rest)?;
        let validated = number(rest)? == 1;
        let validation_loss = Some(float(rest)?).filter(|_| validated);
        let (learning_rate, positions_per_second) = (float(rest)? as f32, float(rest)?);
        epochs.push(Epoch { epoch, train_loss, validation_loss, learning_rate, positions_per_second });
    }
    Some(epochs)
}

fn read_floats(rest: &mut &[u8]) -> Option<Vec<f32>> {
    let length = usize::try_from(number(rest)?).ok()?.checked_mul(4)?;
    let floats = take(rest, length)?.as_chunks::<4>().0;
    Some(floats.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checkpoint_comes_back_and_damage_is_noticed() {
        let epoch = Epoch {
            epoch: 1,
            train_loss: 0.1,
            validation_loss: None,
            learning_rate: 0.003,
            positions_per_second: 1e6,
        };
        let checkpoint = Checkpoint {
            hash: "ab".repeat(32),
            step: 7,
            optimiser_steps: 6,
            epochs: vec![epoch, Epoch { epoch: 2, validation_loss: Some(0.2), ..epoch }],
            best_epoch: 2,
            best_loss: 0.2,
            vectors: vec![vec![1.0, -2.5], vec![], vec![f32::MIN_POSITIVE]],
            device: "GPU 0".to_string(),
            earlier: Earlier { stages: 2, k: Some(1.5), weights: vec![0.25], epochs: vec![epoch] },
        };
        let bytes = checkpoint.to_bytes();
        assert_eq!(Checkpoint::parse(&bytes).unwrap(), checkpoint);
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut damaged = bytes.clone();
                damaged[at] ^= 1 << bit;
                assert!(Checkpoint::parse(&damaged).is_none(), "byte {at}, bit {bit}");
            }
            assert!(Checkpoint::parse(&bytes[..at]).is_none(), "cut to {at}");
        }
    }

    #[test]
    fn a_length_beyond_the_file_is_damage_and_takes_no_memory() {
        let mut bytes = Checkpoint::default().to_bytes();
        // After the number of vectors: the device, and of earlier stages their number, K, weights and epochs.
        let vectors = bytes.len() - 32 - 8 * 6;
        bytes[vectors..vectors + 8].copy_from_slice(&1u64.to_le_bytes());
        for length in [u64::MAX, u64::MAX / 4, 1 << 40] {
            let mut forged = bytes[..vectors + 8].to_vec();
            forged.extend(length.to_le_bytes());
            forged.extend(Sha256::digest(&forged));
            assert!(Checkpoint::parse(&forged).is_none(), "{length}");
        }
    }
}
