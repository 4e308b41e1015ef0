//! Large pages for large tables.
//!
//! In: room for a table. Out: nothing that a program can see; on Linux the table lies on pages of 2 MiB, so that a look
//! at a random place of it seldom has to find out first where in memory that is. Elsewhere this does nothing.

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
