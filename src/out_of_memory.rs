//! Out of memory: one line and exit code 1, where Rust's own answer is an abort.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

use patzer_chess::huge_pages::failure_is_handled;

#[global_allocator]
static ALLOCATOR: OrExit = OrExit;

/// The system's allocator; a failure ends the process, unless the caller handles it.
struct OrExit;

// SAFETY: every call is passed on to the system's allocator with its arguments.
unsafe impl GlobalAlloc for OrExit {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `GlobalAlloc`.
        checked(unsafe { System.alloc(layout) }, layout.size())
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        checked(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    #[inline]
    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        checked(unsafe { System.realloc(old, layout, size) }, size)
    }

    #[inline]
    unsafe fn dealloc(&self, old: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(old, layout) }
    }
}

#[inline]
fn checked(memory: *mut u8, size: usize) -> *mut u8 {
    if memory.is_null() && !failure_is_handled() {
        leave(size);
    }
    memory
}

thread_local! {
    static LEAVING: Cell<bool> = const { Cell::new(false) };
}

/// Exits; returns only where leaving itself needs memory. Must not allocate.
#[cold]
fn leave(size: usize) {
    static LEFT: AtomicBool = AtomicBool::new(false);
    if LEAVING.try_with(|leaving| leaving.replace(true)).unwrap_or(true) {
        return;
    }
    if LEFT.swap(true, Ordering::SeqCst) {
        // Another thread ends the process.
        std::thread::sleep(std::time::Duration::from_secs(60));
        return;
    }
    let mut line = [0; 128];
    let mut rest = &mut line[..];
    let _ = writeln!(
        rest,
        "error: out of memory: {size} bytes more were refused; try fewer --threads or less --memory"
    );
    let length = 128 - rest.len();
    let _ = std::io::stderr().write_all(&line[..length]);
    std::process::exit(1);
}
