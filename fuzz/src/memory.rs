//! How much memory a file may cost: 64 MB and twenty times what it has in one piece, and four times as much in all (the columns
//! of a vector of Spark, as many as it hashes words into, take 130 MB of a file of a kilobyte).
//!
//! What is asked for is counted, as memory that is never touched does not show in what the process takes. Only Rust's is: what
//! the decompressors of C ask for is bounded by `-rss_limit_mb`.

use std::alloc::{GlobalAlloc, Layout, System};
use std::process::abort;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Bytes that any file may cost in one piece.
const ANYWAY: usize = 1 << 26;
/// How many bytes more for each that it has.
const EACH: usize = 20;

/// How many such pieces there may be at a time.
const PIECES: usize = 4;

/// Bytes that are held.
static HELD: AtomicUsize = AtomicUsize::new(0);
/// Bytes that may be.
static MOST: AtomicUsize = AtomicUsize::new(usize::MAX);
/// Bytes of one piece that may be.
static PIECE: AtomicUsize = AtomicUsize::new(usize::MAX);

/// Does something with a file of so many bytes; where that costs too much, this ends the process as a crash does.
pub fn within(bytes: usize, work: impl FnOnce()) {
    let piece = ANYWAY + EACH * bytes;
    PIECE.store(piece, Relaxed);
    MOST.store(HELD.load(Relaxed) + PIECES * piece, Relaxed);
    work();
    MOST.store(usize::MAX, Relaxed);
    PIECE.store(usize::MAX, Relaxed);
}

struct Counted;

#[global_allocator]
static COUNTED: Counted = Counted;

fn take(bytes: usize) {
    let held = HELD.fetch_add(bytes, Relaxed) + bytes;
    if held > MOST.load(Relaxed) || bytes > PIECE.load(Relaxed) {
        // To say so takes memory, too.
        MOST.store(usize::MAX, Relaxed);
        PIECE.store(usize::MAX, Relaxed);
        eprintln!("too much memory: {held} bytes with the last {bytes}");
        abort();
    }
}

// SAFETY: all is left to the allocator of the system.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        take(layout.size());
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        take(layout.size());
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        take(size);
        HELD.fetch_sub(layout.size(), Relaxed);
        unsafe { System.realloc(memory, layout, size) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Relaxed);
        unsafe { System.dealloc(memory, layout) }
    }
}
