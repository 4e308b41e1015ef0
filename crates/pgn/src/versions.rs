//! The reading loop, compiled twice: for every processor, and for those that count bits in one instruction.
//!
//! In: a movetext. Out: what [`movetext::read`] says, which is the same from both.

use super::movetext::{self, Damage};
use super::recorder::Recorder;

/// Reads a movetext as fast as this processor can.
pub(super) fn read(text: &[u8], recorder: &mut Recorder<'_>) -> Result<(), Damage> {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::is_x86_feature_detected as has;
        if has!("popcnt") && has!("bmi1") && has!("bmi2") {
            // SAFETY: the processor has just been found to have what the function is compiled for.
            return unsafe { read_bmi(text, recorder) };
        }
    }
    movetext::read(text, recorder)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt,bmi1,bmi2")]
fn read_bmi(text: &[u8], recorder: &mut Recorder<'_>) -> Result<(), Damage> {
    movetext::read(text, recorder)
}
