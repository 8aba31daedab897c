//! Ceilings for fuzz targets: the memory and time for an input are bounded by its length and by the
//! fuel that it counts, so an input that takes more work than it counts is a finding.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

/// The code that the tests and the fuzz targets share.
#[path = "../../native/ptc_program/tests/common/mod.rs"]
pub mod common;

/// The code that tests and fuzz targets of PTC-Lisp share.
#[path = "../../native/ptc_lisp/tests/probing/mod.rs"]
pub mod lisp;

#[path = "../../native/ptc_lisp/tests/running/mod.rs"]
mod running;

use common::cost::Cost;

/// Bytes of memory per byte of the input, in addition to [`FIXED_BYTES`]: about four times the measured
/// maximum.
pub const BYTES_A_BYTE: usize = 1_000;
/// CPU nanoseconds per byte of the input, in addition to [`FIXED_NANOSECONDS`]: the same margin.
pub const NANOSECONDS_A_BYTE: u64 = 1_000;
/// Bytes of memory per unit of fuel that was counted.
pub const BYTES_A_UNIT: usize = 200;
/// Bytes of memory per word that was counted.
pub const BYTES_A_WORD: usize = 200;
/// CPU nanoseconds per unit of fuel: with the instrumentation of the fuzzer and debug assertions.
pub const NANOSECONDS_A_UNIT: u64 = 700;
/// Bytes of memory for any input.
pub const FIXED_BYTES: usize = 1 << 20;
/// CPU nanoseconds for any input.
pub const FIXED_NANOSECONDS: u64 = 5_000_000;

/// Runs a probe whose work is linear in its input.
pub fn within(text: &[u8], probe: impl Fn(&[u8])) {
    counted(text, |text| {
        probe(text);
        Cost::default()
    });
}

/// Number of runs of which the best one counts, and how many of these follow each other at once.
const RUNS: usize = 30;
const AT_ONCE: usize = 5;
/// A virtual machine may get no processor for whole seconds, which count as CPU time of its threads.
const PAUSE: Duration = Duration::from_millis(400);

/// Runs a probe whose work is linear in its input and in the fuel that it counts. Interrupts of the
/// machine count as CPU time, so the best of several runs counts.
pub fn counted(text: &[u8], probe: impl Fn(&[u8]) -> Cost) {
    let mut best = u64::MAX;
    for run in 0..RUNS {
        if run >= AT_ONCE {
            std::thread::sleep(PAUSE);
        }
        let before = LIVE.load(Relaxed);
        PEAK.store(before, Relaxed);
        let began = thread_time();
        let cost = probe(text);
        let taken = thread_time() - began;
        let memory = PEAK.load(Relaxed).saturating_sub(before);
        let bytes = FIXED_BYTES
            + BYTES_A_BYTE * text.len()
            + BYTES_A_UNIT * cost.fuel
            + BYTES_A_WORD * cost.words;
        assert!(
            memory <= bytes,
            "{memory} bytes for an input of {}, {cost:?}",
            text.len()
        );
        let nanoseconds = FIXED_NANOSECONDS
            + NANOSECONDS_A_BYTE * text.len() as u64
            + NANOSECONDS_A_UNIT * cost.fuel as u64;
        best = best.min(taken.saturating_sub(nanoseconds));
        if best == 0 {
            return;
        }
    }
    panic!(
        "{best} ns too many for an input of {} bytes, {:?}",
        text.len(),
        probe(text)
    );
}

/// Returns the CPU time of this thread in nanoseconds.
fn thread_time() -> u64 {
    let mut time = std::mem::MaybeUninit::<libc::timespec>::uninit();
    // SAFETY: the call writes the time or returns non-zero.
    let time = unsafe {
        let failed = libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, time.as_mut_ptr());
        assert_eq!(failed, 0, "no CPU clock");
        time.assume_init()
    };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

/// The system's allocator, which also counts the memory of Rust code.
struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// SAFETY: every call is the system allocator's, with the same arguments.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let live = LIVE.fetch_add(layout.size(), Relaxed) + layout.size();
        PEAK.fetch_max(live, Relaxed);
        System.alloc(layout)
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Relaxed);
        System.dealloc(pointer, layout)
    }
}
