//! The seam between trainer and device: memory, copies and launches. Implemented by CUDA and, for tests, by
//! an emulation of the kernels on the CPU.

use super::kernel_args::{LayerArgs, LossArgs, NetArgs, OrderArgs, StepArgs, WindowArgs};
use patzer_io::error::Result;

/// Device address; 0 is null.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Address(pub u64);

impl Address {
    pub const NONE: Address = Address(0);

    pub fn offset(self, elements: usize, size: usize) -> Address {
        Address(self.0 + (elements * size) as u64)
    }
}

/// Defines the kernels by their names in the sources.
macro_rules! kernels {
    ($($kernel:ident $name:literal,)*) => {
        /// A kernel, documented in `kernels/`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Kernel { $($kernel,)* }

        impl Kernel {
            pub const ALL: &[Kernel] = &[$(Kernel::$kernel,)*];

            pub fn name(self) -> &'static str {
                match self { $(Kernel::$kernel => $name,)* }
            }
        }
    };
}

kernels! {
    Extract "extract",
    CountRows "count_rows",
    ScanRows "scan_rows",
    ListRows "list_rows",
    WholeTable "whole_table",
    Largest "largest",
    Units "units",
    ToI16 "to_i16",
    ForwardFloats "forward_floats",
    ForwardShorts "forward_shorts",
    OutputForward "output_forward",
    OutputBackward "output_backward",
    DenseForward "dense_forward",
    DenseInputs "dense_inputs",
    DenseWeights "dense_weights",
    EpochLosses "losses",
    Total "total",
    ValuesBackward "values_backward",
    ScatterItems "scatter_items",
    ScatterWindows "scatter_windows",
    ScatterRows "scatter_rows",
    Share "share",
    SumParts "sum_parts",
    Squares "squares",
    ClipFactor "clip_factor",
    Adam "adam",
    Descend "descend",
    LookBack "look_back",
    Average "average",
}

/// Most words of a parameter.
const WORDS: usize = 9;

/// A kernel parameter as laid out in C.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Param {
    words: [u64; WORDS],
    #[cfg(test)]
    size: usize,
}

impl Param {
    fn of(numbers: &[u32]) -> Param {
        let mut words = [0; WORDS];
        for (at, number) in numbers.iter().enumerate() {
            words[at / 2] |= u64::from(*number) << (32 * (at % 2));
        }
        Param {
            words,
            #[cfg(test)]
            size: 4 * numbers.len(),
        }
    }

    /// Bytes, aligned for 64-bit numbers.
    pub fn words(&self) -> &[u64; WORDS] {
        &self.words
    }

    #[cfg(test)]
    pub fn size(&self) -> usize {
        self.size
    }
}

impl From<u32> for Param {
    fn from(number: u32) -> Param {
        Param::of(&[number])
    }
}

impl From<f32> for Param {
    fn from(number: f32) -> Param {
        Param::of(&[number.to_bits()])
    }
}

impl From<Address> for Param {
    fn from(address: Address) -> Param {
        Param::of(&[address.0 as u32, (address.0 >> 32) as u32])
    }
}

/// Parameters that are C structures.
macro_rules! of_structures {
    ($($structure:ty),*) => {
        $(impl From<&$structure> for Param {
            fn from(structure: &$structure) -> Param {
                Param::of(&structure.words())
            }
        })*
    };
}

of_structures!(NetArgs, LayerArgs, LossArgs, StepArgs, OrderArgs, WindowArgs);

/// A device. Operations run in order, except that slot copies overlap them. Every method fails if the device
/// does.
pub trait Driver {
    /// Device name for messages.
    fn name(&self) -> &str;

    /// Free memory in bytes.
    fn free(&mut self) -> Result<u64>;

    /// Allocates uninitialised memory, freed with the driver.
    fn allocate(&mut self, bytes: usize) -> Result<Address>;

    /// Zeroes memory.
    fn clear(&mut self, at: Address, bytes: usize) -> Result<()>;

    /// Copies bytes to the device.
    fn write(&mut self, to: Address, bytes: &[u8]) -> Result<()>;

    /// Copies from the device once all earlier operations are done.
    fn read(&mut self, from: Address, bytes: &mut [u8]) -> Result<()>;

    /// Starts a kernel without waiting.
    fn launch(&mut self, kernel: Kernel, grid: [u32; 3], block: u32, params: &[Param]) -> Result<()>;

    /// Begins a step: operations are recorded until its end.
    fn begin(&mut self);

    /// Starts the recorded operations, at once where that is faster.
    fn end(&mut self) -> Result<()>;

    /// Allocates two slots: one is filled while the device works on the other.
    fn open(&mut self, bytes: usize) -> Result<()>;

    /// Bytes of slot 0 or 1, once the device is done with them.
    fn slot(&mut self, slot: usize) -> Result<&mut [u8]>;

    /// Starts to copy a slot's first bytes; later launches find them at the returned address.
    fn send(&mut self, slot: usize, bytes: usize) -> Result<Address>;

    /// Marks a slot's work as launched; `result` is the address of its loss.
    fn finish(&mut self, slot: usize, result: Address) -> Result<()>;

    /// Waits for the loss of a finished slot.
    fn result(&mut self, slot: usize) -> Result<f64>;
}
