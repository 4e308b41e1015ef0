//! Which device trains a network.
//!
//! In: what the user asked for. Out: a device that is there.

use std::fmt;
use std::str::FromStr;

use super::Settings;
use super::backend::Backend;
use super::gpu::{self, Driver, Gpu};
use super::host::Host;
use super::model::Model;
use crate::error::{Error, Result};

/// What the user asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Device {
    /// The first GPU that there is, or else the CPU.
    Auto,
    /// The CPU: the default for as long as no kernel has run on hardware.
    #[default]
    Cpu,
    /// The GPU of this number.
    Gpu(usize),
}

impl FromStr for Device {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Device, String> {
        let number = |text: &str| text.parse().map_err(|_| format!("`{text}` is no number of a GPU"));
        match text.split_once(':') {
            None if text == "auto" => Ok(Device::Auto),
            None if text == "cpu" => Ok(Device::Cpu),
            None if text == "gpu" => Ok(Device::Gpu(0)),
            Some(("gpu", text)) => number(text).map(Device::Gpu),
            _ => Err("has to be auto, cpu, gpu or gpu:N".to_string()),
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

/// A device that is there.
pub struct Compute {
    gpu: Option<Box<dyn Driver>>,
    about: String,
}

impl Compute {
    /// The CPU.
    pub fn cpu() -> Compute {
        Compute { gpu: None, about: "the CPU".to_string() }
    }

    /// What the user asked for.
    ///
    /// # Errors
    /// If a GPU was asked for and cannot be used; the message says why.
    pub fn open(device: Device) -> Result<Compute> {
        let number = match device {
            Device::Cpu => return Ok(Compute::cpu()),
            Device::Auto => 0,
            Device::Gpu(number) => number,
        };
        match gpu::open(number) {
            Ok(driver) => Ok(Compute::of(driver)),
            Err(reason) if device == Device::Auto => {
                Ok(Compute { gpu: None, about: format!("the CPU ({reason})") })
            }
            Err(reason) => Err(Error::usage(format!("--device {device}: {reason}"))),
        }
    }

    /// A GPU that was opened.
    pub(super) fn of(driver: Box<dyn Driver>) -> Compute {
        let about = driver.name().to_string();
        Compute { gpu: Some(driver), about }
    }

    /// Which it is, and why it is no GPU, for people.
    pub fn about(&self) -> &str {
        &self.about
    }

    /// Puts a network on it, for batches of at most so many positions.
    pub(super) fn backend(self, model: Model, settings: &Settings, batch: usize) -> Result<Box<dyn Backend>> {
        match self.gpu {
            Some(driver) => Ok(Box::new(Gpu::new(driver, &model, settings, batch)?)),
            None => Ok(Box::new(Host::new(model, settings, batch))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_have_names_and_nothing_else_is_one() {
        for (text, device) in [
            ("auto", Device::Auto),
            ("cpu", Device::Cpu),
            ("gpu:0", Device::Gpu(0)),
            ("gpu:3", Device::Gpu(3)),
        ] {
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
        let error = Compute::open(Device::Gpu(999)).err().expect("no machine has so many");
        assert!(error.to_string().starts_with("--device gpu:999: ") && error.exit_code() == 1, "{error}");
        let auto = Compute::open(Device::Auto).unwrap();
        assert!(auto.gpu.is_some() || auto.about().starts_with("the CPU ("), "{}", auto.about());
    }
}
