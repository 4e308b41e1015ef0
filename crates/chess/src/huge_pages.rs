//! Memory for large tables: huge pages and no page faults in the search.

use std::cell::Cell;
use std::collections::TryReserveError;
use std::hint::black_box;
use std::ops::Range;

const PAGE: usize = 2 << 20;

thread_local! {
    static HANDLED: Cell<bool> = const { Cell::new(false) };
}

/// Tests whether a failed allocation comes back as an error, where the allocator would otherwise end the process.
pub fn failure_is_handled() -> bool {
    HANDLED.try_with(Cell::get).unwrap_or(false)
}

/// Reserves memory for exactly `count` values.
///
/// # Errors
/// The system refuses it.
pub fn try_with_capacity<T>(count: usize) -> Result<Vec<T>, TryReserveError> {
    let mut values = Vec::new();
    HANDLED.set(true);
    let reserved = values.try_reserve_exact(count);
    HANDLED.set(false);
    reserved.map(|()| values)
}

/// Advises 2 MiB pages for a vector's reserved, unwritten capacity, so that random access seldom misses the
/// TLB. No effect where the system has none, or outside Linux.
pub fn advise_huge_pages<T>(spare: &mut Vec<T>) {
    let Range { start, end } = spare.spare_capacity_mut().as_mut_ptr_range();
    advise(start.cast()..end.cast());
}

fn advise(range: Range<*mut u8>) {
    #[cfg(target_os = "linux")]
    {
        use rustix::mm::{Advice, madvise};
        let before = (range.start as usize).next_multiple_of(PAGE) - range.start as usize;
        let length = (range.end as usize - range.start as usize).saturating_sub(before) / PAGE * PAGE;
        if length > 0 {
            // SAFETY: whole pages within the range; the advice does not change their contents.
            let _ =
                unsafe { madvise(range.start.wrapping_add(before).cast(), length, Advice::LinuxHugepage) };
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = range;
}

/// A zeroed vector and the index of its first of `count` values, aligned to a huge page from a MiB on.
pub fn zeroed(count: usize) -> (Vec<i16>, usize) {
    let page = PAGE / size_of::<i16>();
    if count < page / 2 {
        return (vec![0; count], 0);
    }
    let mut values: Vec<i16> = vec![0; count.next_multiple_of(page) + page];
    let Range { start, end } = values.as_mut_ptr_range();
    let first = ((start as usize).next_multiple_of(PAGE) - start as usize) / size_of::<i16>();
    advise(start.cast()..end.cast());
    values.truncate(first + count);
    // Write each page: one that is read first maps the shared zero page, and the later write faults again.
    values[first..].chunks_mut(page).for_each(|page| *black_box(&mut page[0]) = 0);
    (values, first)
}

/// A vector on huge pages, for random access.
pub fn on_huge_pages<T: Clone>(count: usize, value: T) -> Vec<T> {
    let mut values = Vec::with_capacity(count);
    advise_huge_pages(&mut values);
    values.resize(count, value);
    values
}

/// A vector written value by value: zeroed memory that is read first maps a page twice, interrupting all cores.
pub fn prefaulted<T: Clone>(count: usize, value: T) -> Vec<T> {
    let mut values = Vec::with_capacity(count);
    values.resize(count, value);
    values
}
