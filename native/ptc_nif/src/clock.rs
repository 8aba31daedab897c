//! The slice clock: how long the calls of each NIF hold their thread. For tests; off by default.
//!
//! It reads the CPU clock of the thread, so a busy machine does not matter. While it is off, a call
//! costs one relaxed load. On a system without such a clock, nothing is ever measured.

use crate::raw;
use rustler::{Encoder, Env, Term};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

static ON: AtomicBool = AtomicBool::new(false);
/// By name of the NIF, and whether the thread belonged to a dirty scheduler.
static TIMES: Mutex<BTreeMap<(&'static str, bool), Times>> = Mutex::new(BTreeMap::new());

/// A power of two is divided into so many buckets, so a quantile is at most 12.5 % too high.
const BUCKETS_PER_DOUBLING: u64 = 8;
const BUCKETS: usize = 64 * BUCKETS_PER_DOUBLING as usize;

/// The calls of one NIF, in nanoseconds.
struct Times {
    calls: u64,
    min: u64,
    max: u64,
    total: u64,
    over: u64,
    buckets: Box<[u32; BUCKETS]>,
}

/// A normal scheduler's thread may be held for so long.
const LIMIT: u64 = 2_000_000;

impl Times {
    fn new() -> Self {
        Times {
            calls: 0,
            min: u64::MAX,
            max: 0,
            total: 0,
            over: 0,
            buckets: Box::new([0; BUCKETS]),
        }
    }

    fn add(&mut self, time: u64) {
        self.calls += 1;
        self.min = self.min.min(time);
        self.max = self.max.max(time);
        self.total = self.total.saturating_add(time);
        self.over += u64::from(time > LIMIT);
        let bucket = &mut self.buckets[bucket_of(time)];
        *bucket = bucket.saturating_add(1);
    }

    /// An upper bound of what `share` per cent of the calls took.
    fn quantile(&self, share: u64) -> u64 {
        let wanted = (self.calls * share).div_ceil(100);
        let mut seen = 0;
        for (bucket, count) in self.buckets.iter().enumerate() {
            seen += u64::from(*count);
            if seen >= wanted {
                return end_of(bucket).min(self.max);
            }
        }
        self.max
    }
}

fn bucket_of(time: u64) -> usize {
    let time = time.max(BUCKETS_PER_DOUBLING);
    let doublings = u64::from(time.ilog2());
    let part = (time >> (doublings - 3)) - BUCKETS_PER_DOUBLING;
    (doublings * BUCKETS_PER_DOUBLING + part) as usize
}

fn end_of(bucket: usize) -> u64 {
    let (doublings, part) = (bucket as u64 / 8, bucket as u64 % 8);
    (part + 1 + BUCKETS_PER_DOUBLING)
        .checked_shl(doublings.saturating_sub(3) as u32)
        .unwrap_or(u64::MAX)
}

/// One call, from here to where this is dropped.
pub struct Running(Option<(&'static str, u64)>);

/// Starts the clock of a call. The first line of every NIF.
#[inline]
pub fn start(name: &'static str) -> Running {
    match ON.load(Ordering::Relaxed) {
        false => Running(None),
        true => Running(raw::thread_time().map(|time| (name, time))),
    }
}

impl Drop for Running {
    #[inline]
    fn drop(&mut self) {
        if let Some((name, began)) = self.0 {
            record(name, began);
        }
    }
}

#[cold]
fn record(name: &'static str, began: u64) {
    let time = raw::thread_time().unwrap_or(began).saturating_sub(began);
    let place = (name, raw::on_dirty_scheduler());
    times().entry(place).or_insert_with(Times::new).add(time);
}

fn times() -> MutexGuard<'static, BTreeMap<(&'static str, bool), Times>> {
    TIMES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Switches the clock on or off.
#[rustler::nif]
fn clock_switch(on: bool) -> bool {
    let _clock = crate::clock::start("clock_switch");
    ON.store(on, Ordering::Relaxed);
    raw::thread_time().is_some()
}

/// `[{name, dirty?, calls, over, {min, p50, p99, max, total}}]`: times in nanoseconds; `over`
/// counts the calls that took more than 2 ms.
#[rustler::nif(schedule = "DirtyCpu")]
fn clock_read(env: Env) -> Vec<Term> {
    let _clock = crate::clock::start("clock_read");
    let times = times();
    let lines = times.iter().map(|(&(name, dirty), times)| {
        let spread = (
            times.min,
            times.quantile(50),
            times.quantile(99),
            times.max,
            times.total,
        );
        (name, dirty, times.calls, times.over, spread).encode(env)
    });
    lines.collect()
}
