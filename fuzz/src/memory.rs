//! An allocator that knows how much memory a thread holds, and refuses what no file of a few bytes
//! needs.

#![expect(unsafe_code, reason = "a counting allocator")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

/// No case may take more memory than this.
pub const MOST: usize = 256 << 20;
/// A single request beyond this ends the program, with the number of the case: it would take the
/// machine with it.
const FATAL: usize = 2 << 30;

/// The case that runs, for those last words.
pub static CASE: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static HELD: Cell<usize> = const { Cell::new(0) };
    static PEAK: Cell<usize> = const { Cell::new(0) };
}

/// The system's allocator, watched.
#[derive(Debug, Clone, Copy, Default)]
pub struct Watching;

fn taken(size: usize) {
    let held = HELD.get() + size;
    HELD.set(held);
    PEAK.set(PEAK.get().max(held));
}

fn is_fatal(size: usize) -> bool {
    if size > FATAL {
        // Not println: that would allocate.
        let mut text = *b"case                      asks for more than 2 GB\n";
        let mut number = CASE.load(Ordering::Relaxed);
        for place in (5..25).rev() {
            text[place] = b'0' + (number % 10) as u8;
            number /= 10;
        }
        let _ = std::io::Write::write_all(&mut std::io::stderr(), &text);
    }
    size > FATAL
}

// SAFETY: passes everything on to the system's allocator, or refuses by a null pointer as any
// allocator may.
unsafe impl GlobalAlloc for Watching {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if is_fatal(layout.size()) {
            return std::ptr::null_mut();
        }
        taken(layout.size());
        // SAFETY: as promised by the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if is_fatal(layout.size()) {
            return std::ptr::null_mut();
        }
        taken(layout.size());
        // SAFETY: as promised by the caller.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // What another thread took may be given back here.
        HELD.set(HELD.get().saturating_sub(layout.size()));
        // SAFETY: as promised by the caller.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// What this thread holds; from here on, its peak is measured.
pub fn start() -> usize {
    PEAK.set(HELD.get());
    HELD.get()
}

/// The most that this thread has held beyond `before`.
pub fn most_since(before: usize) -> usize {
    PEAK.get().saturating_sub(before)
}
