//! What the processor and the system are told about memory before it is needed.
//!
//! In: a place in memory. Out: nothing that a program can see: on x86-64 a cache line is on its way, on Linux large
//! tables lie on pages of 2 MiB, so that a look at a random place of them seldom has to find out first where that is.
//! Elsewhere both do nothing.

/// Begins to load the cache line at which a value starts.
#[inline(always)]
pub fn prefetch<T>(at: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: SSE is part of x86-64, and the address is that of a live reference; a prefetch reads nothing.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(at).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}

/// Asks for large pages under the room that a vector has reserved and not yet written. A system that has none left
/// gives the usual ones.
pub fn prefer_large_pages<T>(room: &mut Vec<T>) {
    #[cfg(target_os = "linux")]
    {
        use rustix::mm::{Advice, madvise};
        const PAGE: usize = 2 << 20;
        let free = room.spare_capacity_mut().as_mut_ptr_range();
        let start = (free.start as usize).next_multiple_of(PAGE);
        let length = (free.end as usize).saturating_sub(start) / PAGE * PAGE;
        if length > 0 {
            let at = free.start.wrapping_byte_add(start - free.start as usize);
            // SAFETY: whole pages within memory that the vector owns; the advice changes nothing of what it holds.
            let _ = unsafe { madvise(at.cast(), length, Advice::LinuxHugepage) };
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = room;
}
