//! The seam between trainer and device, implemented by CUDA and, for tests, by an emulation on the CPU.

use super::address::Address;
use super::kernel_args::{LayerArgs, NetArgs, OrderArgs, StepArgs, WindowArgs, loss_words, target_words};
use crate::loss::Loss;
use crate::target::Target;
use patzer_io::error::Result;

macro_rules! kernels {
    ($($kernel:ident $name:literal,)*) => {
        /// A kernel, documented in `kernels/`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Kernel { $($kernel,)* }

        impl Kernel {
            pub(crate) const ALL: &[Kernel] = &[$(Kernel::$kernel,)*];

            pub(crate) fn name(self) -> &'static str {
                match self { $(Kernel::$kernel => $name,)* }
            }
        }
    };
}

kernels! {
    Extract "extract", ExtractUnbucketed "extract_unbucketed",
    CountRows "count_rows", ScanRows "scan_rows", ListRows "list_rows",
    WholeTable "whole_table", RoundParameters "round_parameters", Largest "largest", Units "units", ToI16 "to_i16",
    ForwardFloats "forward_floats", ForwardShorts "forward_shorts",
    OutputForward "output_forward", OutputBackward "output_backward",
    DenseForward "dense_forward", DenseInputs "dense_inputs", DenseWeights "dense_weights",
    DualForward "dual_forward", DualInputs "dual_inputs", DualWeights "dual_weights",
    RoundedForward "rounded_forward", RoundedWeights "rounded_weights",
    SkipForward "skip_forward", SkipBackward "skip_backward",
    Weigh "weigh", Losses "losses", WdlLosses "wdl_losses", Total "total", ValuesBackward "values_backward",
    ScatterItems "scatter_items", ScatterWindows "scatter_windows", ScatterRows "scatter_rows",
    Share "share", SumParts "sum_parts", Squares "squares", ClipFactor "clip_factor",
    Adam "adam", Descend "descend", LookBack "look_back", Average "average",
}

const WORDS: usize = 9;

/// A kernel parameter as laid out in C.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Param {
    /// Bytes, aligned for 64-bit numbers.
    pub words: [u64; WORDS],
    #[cfg(test)]
    pub size: usize,
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
}

macro_rules! params_of {
    ($($from:ty: $value:ident => $words:expr;)*) => {
        $(impl From<$from> for Param {
            fn from($value: $from) -> Param {
                Param::of(&$words)
            }
        })*
    };
}

params_of! {
    u32: number => [number];
    f32: number => [number.to_bits()];
    Address: address => [address.0 as u32, (address.0 >> 32) as u32];
    &NetArgs: args => args.0;
    &LayerArgs: args => args.words();
    &Loss: loss => loss_words(loss);
    Target: target => target_words(target);
    &StepArgs: args => args.words();
    &OrderArgs: args => args.words();
    &WindowArgs: args => [args.words, args.members, args.items, args.parts];
}

/// A device. Operations run in order, except that slot copies overlap them.
pub(crate) trait Driver {
    fn name(&self) -> &str;

    fn free(&mut self) -> Result<u64>;

    /// Allocates uninitialised memory, freed with the driver.
    fn allocate(&mut self, bytes: usize) -> Result<Address>;

    fn clear(&mut self, at: Address, bytes: usize) -> Result<()>;

    fn write(&mut self, to: Address, bytes: &[u8]) -> Result<()>;

    /// Copies from the device once all earlier operations are done.
    fn read(&mut self, from: Address, bytes: &mut [u8]) -> Result<()>;

    fn launch(&mut self, kernel: Kernel, grid: [u32; 3], block: u32, params: &[Param]) -> Result<()>;

    /// Begins a step, recorded until its end.
    fn begin(&mut self);

    fn end(&mut self) -> Result<()>;

    /// Allocates two slots: one is filled while the device works on the other.
    fn open(&mut self, bytes: usize) -> Result<()>;

    /// Bytes of slot 0 or 1, once the device is done with them.
    fn slot(&mut self, slot: usize) -> Result<&mut [u8]>;

    /// Starts to copy a slot's first bytes; later launches find them at the returned address.
    fn send(&mut self, slot: usize, bytes: usize) -> Result<Address>;

    /// Marks a slot's work as launched; `result` is the address of its loss.
    fn finish(&mut self, slot: usize, result: Address) -> Result<()>;

    fn result(&mut self, slot: usize) -> Result<f64>;
}
