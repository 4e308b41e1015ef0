//! How large tables come to lie in memory.
//!
//! In: room for a table, or its length. Out: nothing that a program can see but the time it takes.

/// A large page, in bytes.
#[cfg(target_os = "linux")]
const PAGE: usize = 2 << 20;

/// Asks for large pages, of 2 MiB, under the room that a vector has reserved and not yet written, so that a look at a
/// random place of it seldom has to find out first where in memory that is. A system that has none left gives the usual
/// ones, and so does any that is not Linux.
pub fn prefer_large_pages<T>(room: &mut Vec<T>) {
    #[cfg(target_os = "linux")]
    {
        use rustix::mm::{Advice, madvise};
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

/// So many zeros, and the place in the vector at which they begin. A table of a MiB or more lies wholly in large pages,
/// where there are any; what stands before it in the vector is left over.
pub fn zeros(count: usize) -> (Vec<i16>, usize) {
    #[cfg(target_os = "linux")]
    if size_of::<i16>() * count >= PAGE / 2 {
        let page = PAGE / size_of::<i16>();
        let mut room = Vec::with_capacity(count.next_multiple_of(page) + page);
        prefer_large_pages(&mut room);
        let address = room.as_ptr() as usize;
        let start = (address.next_multiple_of(PAGE) - address) / size_of::<i16>();
        room.resize(start + count, 0);
        return (room, start);
    }
    (vec![0; count], 0)
}

/// So many values, written here rather than got as pages of zeros: a page that is read before it is written is mapped
/// twice, and the second time all cores are interrupted for it.
pub fn written<T: Clone>(count: usize, value: T) -> Vec<T> {
    let mut values = Vec::with_capacity(count);
    values.resize(count, value);
    values
}
