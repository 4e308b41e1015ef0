//! The seam between the trainer and a device: memory, copies and launches, and nothing of networks.
//!
//! In: kernels by name with their parameters, and bytes. Out: bytes. Behind it stand CUDA, and for tests an emulation of
//! the same kernels on the CPU. A device of another make would be a third.

use super::kernel_args::{Layer, LossNumbers, Net, Order, StepNumbers, Windows};
use patzer_io::error::Result;

/// A place in the device's memory; 0 is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Address(pub u64);

impl Address {
    /// What a kernel takes for nothing.
    pub const NONE: Address = Address(0);

    /// So many elements of a size further.
    pub fn offset(self, elements: usize, size: usize) -> Address {
        Address(self.0 + (elements * size) as u64)
    }
}

/// Defines the kernels with their names in the sources.
macro_rules! kernels {
    ($($kernel:ident $name:literal,)*) => {
        /// A kernel; the files in `kernels/` say what each does.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[allow(missing_docs)]
        pub enum Kernel { $($kernel,)* }

        impl Kernel {
            /// All of them, in the order of their numbers.
            pub const ALL: &[Kernel] = &[$(Kernel::$kernel,)*];

            /// Its name in the sources.
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
    Shorten "shorten",
    ForwardFloats "forward_floats",
    ForwardShorts "forward_shorts",
    FlatOutput "flat_output",
    FlatBackward "flat_backward",
    DenseForward "dense_forward",
    DenseInputs "dense_inputs",
    DenseWeights "dense_weights",
    Losses "losses",
    Total "total",
    ValuesBackward "values_backward",
    ScatterItems "scatter_items",
    ScatterWindows "scatter_windows",
    ScatterRows "scatter_rows",
    Share "share",
    SumParts "sum_parts",
    Squares "squares",
    Shortening "shortening",
    Adam "adam",
    Descend "descend",
    LookBack "look_back",
    Average "average",
}

/// The most words of a parameter.
const WORDS: usize = 9;

/// A kernel's parameter: its bytes as they lie in C.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Param {
    words: [u64; WORDS],
    #[cfg(test)]
    size: usize,
}

impl Param {
    /// Of numbers of 32 bits, one after another.
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

    /// Its bytes; the first is aligned for numbers of 64 bits.
    pub fn words(&self) -> &[u64; WORDS] {
        &self.words
    }

    /// How many bytes it has.
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

/// Parameters that are structures of C, as numbers.
macro_rules! of_structures {
    ($($structure:ty),*) => {
        $(impl From<&$structure> for Param {
            fn from(structure: &$structure) -> Param {
                Param::of(&structure.numbers())
            }
        })*
    };
}

of_structures!(Net, Layer, LossNumbers, StepNumbers, Order, Windows);

/// A device. What is asked of it happens in the order in which it is asked; only copies of the two slots run beside it.
pub trait Driver {
    /// The device, for people.
    fn name(&self) -> &str;

    /// Bytes of memory that are free.
    ///
    /// # Errors
    /// If the device fails, as everywhere here.
    fn free(&mut self) -> Result<u64>;

    /// Memory, whatever it holds; it is given back with the driver.
    ///
    /// # Errors
    /// If there is none left.
    fn allocate(&mut self, bytes: usize) -> Result<Address>;

    /// Makes bytes zero.
    ///
    /// # Errors
    /// As above.
    fn clear(&mut self, at: Address, bytes: usize) -> Result<()>;

    /// Copies bytes to the device.
    ///
    /// # Errors
    /// As above.
    fn write(&mut self, to: Address, bytes: &[u8]) -> Result<()>;

    /// Copies bytes from the device when all that was asked before is done.
    ///
    /// # Errors
    /// As above.
    fn read(&mut self, from: Address, bytes: &mut [u8]) -> Result<()>;

    /// Starts a kernel and does not wait for it.
    ///
    /// # Errors
    /// As above.
    fn launch(&mut self, kernel: Kernel, grid: [u32; 3], block: u32, params: &[Param]) -> Result<()>;

    /// Begins a step: what is cleared and launched until its end is only done then.
    fn begin(&mut self);

    /// Starts what the step asked for, all at once where that is quicker.
    ///
    /// # Errors
    /// As above.
    fn end(&mut self) -> Result<()>;

    /// Makes two slots of so many bytes: one is filled while the device works on what the other holds.
    ///
    /// # Errors
    /// If there is no memory for them.
    fn open(&mut self, bytes: usize) -> Result<()>;

    /// The bytes of slot 0 or 1 to fill, when the device is done with them.
    ///
    /// # Errors
    /// As above.
    fn slot(&mut self, slot: usize) -> Result<&mut [u8]>;

    /// Starts to copy a slot's first bytes; what is launched from now on finds them at the address.
    ///
    /// # Errors
    /// As above.
    fn send(&mut self, slot: usize, bytes: usize) -> Result<Address>;

    /// Says that all that works on a slot was launched, and that the number at an address is its result.
    ///
    /// # Errors
    /// As above.
    fn finish(&mut self, slot: usize, result: Address) -> Result<()>;

    /// The result of a slot that was finished; waits for it.
    ///
    /// # Errors
    /// As above.
    fn result(&mut self, slot: usize) -> Result<f64>;
}
