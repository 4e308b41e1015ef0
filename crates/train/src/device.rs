//! Choice of the training device.

use std::fmt;
use std::str::FromStr;

use super::backend::Backend;
use super::cpu_backend::CpuBackend;
use super::gpu::{self, Driver, Gpu};
use super::model::Model;
use super::{Settings, TrainItem};
use patzer_io::error::{Error, Result};

/// Device to train on, as named by a user: `auto`, `cpu`, `gpu` or `gpu:N`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Device {
    /// The first GPU if it passes its check, else the CPU.
    #[default]
    Auto,
    /// The CPU, with all threads of the pool.
    Cpu,
    /// A GPU by its number.
    Gpu(usize),
}

/// Error of parsing a [`Device`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ParseDeviceError {
    /// Unknown name.
    Name,
    /// Text that is no number of a GPU.
    Number(String),
}

impl fmt::Display for ParseDeviceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParseDeviceError::Name => f.write_str("has to be auto, cpu, gpu or gpu:N"),
            ParseDeviceError::Number(text) => write!(f, "`{text}` is no number of a GPU"),
        }
    }
}

impl std::error::Error for ParseDeviceError {}

impl FromStr for Device {
    type Err = ParseDeviceError;

    fn from_str(text: &str) -> std::result::Result<Device, ParseDeviceError> {
        let number = |text: &str| text.parse().map_err(|_| ParseDeviceError::Number(text.to_string()));
        match text.split_once(':') {
            None if text == "auto" => Ok(Device::Auto),
            None if text == "cpu" => Ok(Device::Cpu),
            None if text == "gpu" => Ok(Device::Gpu(0)),
            Some(("gpu", text)) => number(text).map(Device::Gpu),
            _ => Err(ParseDeviceError::Name),
        }
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Device::Auto => f.write_str("auto"),
            Device::Cpu => f.write_str("cpu"),
            Device::Gpu(number) => write!(f, "gpu:{number}"),
        }
    }
}

patzer_io::serde_as_text!(Device);

/// An opened device.
pub struct Compute {
    gpu: Option<Box<dyn Driver>>,
    about: String,
    /// Set to fall back to the CPU if the GPU fails its check.
    or_cpu: bool,
}

impl Compute {
    /// The CPU.
    pub fn cpu() -> Compute {
        Compute { gpu: None, about: "the CPU".to_string(), or_cpu: true }
    }

    /// Opens a device. An error if a GPU named by the user cannot be opened.
    pub fn open(device: Device) -> Result<Compute> {
        let number = match device {
            Device::Cpu => return Ok(Compute::cpu()),
            Device::Auto => 0,
            Device::Gpu(number) => number,
        };
        match gpu::open(number) {
            Ok(driver) => Ok(Compute::of(driver, device == Device::Auto)),
            Err(reason) if device == Device::Auto => {
                Ok(Compute { about: format!("the CPU ({reason})"), ..Compute::cpu() })
            }
            Err(reason) => Err(Error::setting("device", device, reason.to_string())),
        }
    }

    /// Wraps an opened GPU; `or_cpu` allows falling back to the CPU.
    pub(super) fn of(driver: Box<dyn Driver>, or_cpu: bool) -> Compute {
        let about = driver.name().to_string();
        Compute { gpu: Some(driver), about, or_cpu }
    }

    /// Description of the device.
    pub fn about(&self) -> &str {
        &self.about
    }

    /// Creates the backend. A GPU is first checked against the CPU on `sample`; a fallback to the CPU returns the
    /// reason too.
    pub(super) fn backend(
        self,
        model: Model,
        settings: &Settings,
        batch: usize,
        sample: &[TrainItem],
    ) -> Result<(Box<dyn Backend>, Option<Error>)> {
        let mut gpu_rejected = None;
        if let Some(driver) = self.gpu {
            let gpu = Gpu::new(driver, &model, settings, batch)
                .and_then(|mut gpu| gpu::check(&mut gpu, &model, settings, sample).map(|()| gpu));
            match gpu {
                Ok(gpu) => return Ok((Box::new(gpu), None)),
                Err(reason) if self.or_cpu => gpu_rejected = Some(reason),
                Err(reason) => return Err(reason),
            }
        }
        Ok((Box::new(CpuBackend::new(model, settings, batch)), gpu_rejected))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_have_names_and_nothing_else_is_one() {
        let devices = [Device::Auto, Device::Cpu, Device::Gpu(0), Device::Gpu(3)];
        for (text, device) in ["auto", "cpu", "gpu:0", "gpu:3"].into_iter().zip(devices) {
            assert_eq!(text.parse(), Ok(device));
            assert_eq!(device.to_string(), text);
        }
        assert_eq!("gpu".parse(), Ok(Device::Gpu(0)));
        for text in ["", "cuda", "gpu:", "gpu:x", "gpu:-1", "cpu:0"] {
            assert!(text.parse::<Device>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_gpu_that_is_not_there_is_an_error_and_auto_goes_without() {
        let error = Compute::open(Device::Gpu(999)).err().expect("no machine has a thousand GPUs");
        assert!(error.to_string().starts_with("device gpu:999: ") && error.exit_code() == 1, "{error}");
        let auto = Compute::open(Device::Auto).unwrap();
        match gpu::open(0) {
            Ok(driver) => assert!(auto.gpu.is_some() && auto.about() == driver.name()),
            Err(reason) => {
                assert!(auto.gpu.is_none());
                assert_eq!(auto.about(), format!("the CPU ({reason})"));
            }
        }
    }
}
