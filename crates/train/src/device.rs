//! Which device trains a network.
//!
//! In: what the user asked for. Out: a device that is there.

use std::fmt;
use std::str::FromStr;

use super::backend::Backend;
use super::cpu_backend::Host;
use super::gpu::{self, Driver, Gpu};
use super::model::Model;
use super::{Settings, TrainItem};
use patzer_io::error::{Error, Result};

/// What the user asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Device {
    /// The first GPU that there is and that computes what the CPU does, or else the CPU.
    #[default]
    Auto,
    /// The CPU.
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
    /// Whether the CPU will do if the GPU does not.
    or_cpu: bool,
}

impl Compute {
    /// The CPU.
    pub fn cpu() -> Compute {
        Compute { gpu: None, about: "the CPU".to_string(), or_cpu: true }
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
            Ok(driver) => Ok(Compute::of(driver, device == Device::Auto)),
            Err(reason) if device == Device::Auto => {
                Ok(Compute { about: format!("the CPU ({reason})"), ..Compute::cpu() })
            }
            Err(reason) => Err(Error::usage(format!("--device {device}: {reason}"))),
        }
    }

    /// A GPU that was opened, and whether the CPU will do instead.
    pub(super) fn of(driver: Box<dyn Driver>, or_cpu: bool) -> Compute {
        let about = driver.name().to_string();
        Compute { gpu: Some(driver), about, or_cpu }
    }

    /// Which it is, and why it is no GPU, for people.
    pub fn about(&self) -> &str {
        &self.about
    }

    /// Puts a network on it, for batches of at most so many positions. A GPU first shows on some positions that it computes
    /// what the CPU does; where the CPU will do instead, the reason comes with it.
    ///
    /// # Errors
    /// If the GPU that was asked for cannot be used.
    pub(super) fn backend(
        self,
        model: Model,
        settings: &Settings,
        batch: usize,
        some: &[TrainItem],
    ) -> Result<(Box<dyn Backend>, Option<Error>)> {
        let mut set_aside = None;
        if let Some(driver) = self.gpu {
            let gpu = Gpu::new(driver, &model, settings, batch)
                .and_then(|mut gpu| gpu::check(&mut gpu, &model, settings, some).map(|()| gpu));
            match gpu {
                Ok(gpu) => return Ok((Box::new(gpu), None)),
                Err(reason) if self.or_cpu => set_aside = Some(reason),
                Err(reason) => return Err(reason),
            }
        }
        Ok((Box::new(Host::new(model, settings, batch)), set_aside))
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
