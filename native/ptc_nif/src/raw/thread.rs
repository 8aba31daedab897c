//! The CPU time of the calling thread, its kind of scheduler, and whether the calling process is alive.

use super::Terms;
use rustler::sys::*;
use std::mem::MaybeUninit;

impl Terms<'_> {
    /// Whether the calling process is still alive. A dirty NIF can outlive it, and so can Erlang code, for a
    /// while, after a garbage collection that found its heap too large.
    pub fn caller_is_alive(self) -> bool {
        // SAFETY: the environment is that of a NIF call.
        unsafe { enif_is_current_process_alive(self.c()) != 0 }
    }
}

/// The CPU time of this thread so far, in nanoseconds; `None` where the system has no such clock.
#[cfg(unix)]
pub fn thread_time() -> Option<u64> {
    let mut time = MaybeUninit::<libc::timespec>::uninit();
    // SAFETY: the call writes the time or returns non-zero.
    let time = unsafe {
        match libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, time.as_mut_ptr()) {
            0 => time.assume_init(),
            _ => return None,
        }
    };
    let seconds = u64::try_from(time.tv_sec).ok()?;
    let nanoseconds = u64::try_from(time.tv_nsec).ok()?;
    Some(seconds * 1_000_000_000 + nanoseconds)
}

/// The CPU time of this thread so far, in nanoseconds; `None` where the system has no such clock.
#[cfg(not(unix))]
pub fn thread_time() -> Option<u64> {
    None
}

/// How often the system has taken this thread off its core so far; 0 if the system does not report it.
#[cfg(target_os = "linux")]
pub fn thread_switches() -> u64 {
    let mut usage = MaybeUninit::<libc::rusage>::uninit();
    // SAFETY: the call writes the usage or returns non-zero.
    let usage = unsafe {
        match libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr()) {
            0 => usage.assume_init(),
            _ => return 0,
        }
    };
    u64::try_from(usage.ru_nivcsw).unwrap_or(0)
}

/// How often the system has taken this thread off its core so far; 0 if the system does not report it.
#[cfg(not(target_os = "linux"))]
pub fn thread_switches() -> u64 {
    0
}

/// Whether this thread belongs to a dirty scheduler.
pub fn on_dirty_scheduler() -> bool {
    // SAFETY: takes nothing and can be called on any thread.
    unsafe { enif_thread_type() > 1 }
}
