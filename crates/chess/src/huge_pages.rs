//! How large tables come to lie in memory.
//!
//! In: room for a table, or its length. Out: nothing that a program can see but the time it takes.

use std::hint::black_box;
use std::ops::Range;

/// A large page, in bytes.
const PAGE: usize = 2 << 20;

/// Asks for large pages, of 2 MiB, under the room that a vector has reserved and not yet written, so that a look at a
/// random place of it seldom has to find out first where in memory that is. A system that has none left gives the usual
/// ones, and so does any that is not Linux.
pub fn prefer_large_pages<T>(room: &mut Vec<T>) {
    let Range { start, end } = room.spare_capacity_mut().as_mut_ptr_range();
    advise(start.cast()..end.cast());
}

/// Asks for large pages for what is not yet written of a range that belongs to the caller.
fn advise(range: Range<*mut u8>) {
    #[cfg(target_os = "linux")]
    {
        use rustix::mm::{Advice, madvise};
        let before = (range.start as usize).next_multiple_of(PAGE) - range.start as usize;
        let length = (range.end as usize - range.start as usize).saturating_sub(before) / PAGE * PAGE;
        if length > 0 {
            // SAFETY: whole pages within the range; the advice changes nothing of what they hold.
            let _ =
                unsafe { madvise(range.start.wrapping_add(before).cast(), length, Advice::LinuxHugepage) };
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = range;
}

/// So many zeros, and the place in the vector at which they begin. A table of a MiB or more lies wholly in large pages,
/// where there are any; what stands before it in the vector is not written here.
pub fn zeros(count: usize) -> (Vec<i16>, usize) {
    let page = PAGE / size_of::<i16>();
    if count < page / 2 {
        return (vec![0; count], 0);
    }
    let mut values: Vec<i16> = vec![0; count.next_multiple_of(page) + page];
    let Range { start, end } = values.as_mut_ptr_range();
    let first = ((start as usize).next_multiple_of(PAGE) - start as usize) / size_of::<i16>();
    advise(start.cast()..end.cast());
    values.truncate(first + count);
    // A page that is read before it is written is one of zeros that all share, and writing then splits it.
    values[first..].chunks_mut(page).for_each(|page| *black_box(&mut page[0]) = 0);
    (values, first)
}

/// So many values, written here rather than got as pages of zeros: a page that is read before it is written is mapped
/// twice, and the second time all cores are interrupted for it.
pub fn written<T: Clone>(count: usize, value: T) -> Vec<T> {
    let mut values = Vec::with_capacity(count);
    values.resize(count, value);
    values
}
