//! The global allocator: large blocks come from the VM's allocators, all others from the system's.
//!
//! The system's allocator maps each large block anew, page by page, and unmaps it at once: a walk that finds
//! ten thousand errors spends a quarter of its time on that. The VM keeps freed large blocks for reuse.
//! For small blocks, the system's allocator is several times faster.
//!
//! A tiny block grows by a move to a new one. glibc gives and takes tiny blocks without a lock, but it grows a block under
//! the lock of the arena that the block came from, which may be another thread's: threads that grew tiny blocks in loops
//! came to share one arena after some minutes, and waited for each other from then on.

use rustler::sys::{enif_alloc, enif_free, enif_realloc};
use std::alloc::{GlobalAlloc, Layout, System};

/// Blocks of at least this many bytes are large.
const LARGE: usize = 1 << 15;
/// Blocks of at most this many bytes are tiny: glibc keeps freed ones for each thread.
const TINY: usize = 1024;
/// Alignment of the VM's blocks, in bytes.
const ALIGNED: usize = 8;

struct Allocator;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

#[inline]
fn is_large(layout: Layout) -> bool {
    layout.size() >= LARGE && layout.align() <= ALIGNED
}

// SAFETY: the layout alone decides which allocator a block belongs to, and a block is freed with the layout
// that it was allocated with. The VM's blocks are as long and as aligned as requested. No large block is
// allocated before the library is loaded.
unsafe impl GlobalAlloc for Allocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        match is_large(layout) {
            true => enif_alloc(layout.size()).cast(),
            false => System.alloc(layout),
        }
    }

    #[inline]
    unsafe fn dealloc(&self, piece: *mut u8, layout: Layout) {
        match is_large(layout) {
            true => enif_free(piece.cast()),
            false => System.dealloc(piece, layout),
        }
    }

    #[inline]
    unsafe fn realloc(&self, piece: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller guarantees that the size is valid for a layout.
        let other = Layout::from_size_align_unchecked(size, layout.align());
        match (is_large(layout), is_large(other)) {
            (false, false) if layout.size() > TINY => return System.realloc(piece, layout, size),
            (true, true) => return enif_realloc(piece.cast(), size).cast(),
            _ => {}
        }
        let moved = self.alloc(other);
        if !moved.is_null() {
            moved.copy_from_nonoverlapping(piece, layout.size().min(size));
            self.dealloc(piece, layout);
        }
        moved
    }
}
