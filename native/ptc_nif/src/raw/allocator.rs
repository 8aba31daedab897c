//! Where the native memory comes from: large pieces out of the VM's allocators, the others out of the
//! system's.
//!
//! The system's allocator takes a large piece fresh from the kernel, page by page, and gives it back at
//! once: a walk that finds ten thousand errors spends a quarter of its time on that. The VM keeps such
//! pieces for whoever asks next. For small ones the system's is several times faster.

use rustler::sys::{enif_alloc, enif_free, enif_realloc};
use std::alloc::{GlobalAlloc, Layout, System};

/// From so many bytes on, a piece is a large one.
const LARGE: usize = 1 << 15;
/// The VM's pieces are aligned to so many bytes.
const ALIGNED: usize = 8;

struct Allocator;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

#[inline]
fn is_large(layout: Layout) -> bool {
    layout.size() >= LARGE && layout.align() <= ALIGNED
}

// SAFETY: which allocator a piece belongs to is told by its layout alone, and a piece is given back with
// the layout that it was asked for with. The VM's pieces are as long and as aligned as asked for. No
// large piece is asked for before the library is loaded.
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
        // SAFETY: whoever asks makes sure that the size is that of a layout.
        let other = Layout::from_size_align_unchecked(size, layout.align());
        match (is_large(layout), is_large(other)) {
            (false, false) => return System.realloc(piece, layout, size),
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
