//! Kills the processes of runs' tools when their caller has ended.
//!
//! One resource for each caller monitors it, from its first tool on; a monitor for each run would cost half
//! as much as a process. A table holds the resource together with the guarded processes. When the caller
//! ends, they move to a list, and the reaper, a process of the application, receives a message to kill
//! them: a callback of the VM cannot. The list outlives the reaper, so a restarted reaper finds it complete.

use crate::atoms;
use crate::raw::{Raw, Terms};
use ptc_term::spread::{spread, Spread};
use rustler::{Atom, Encoder, Env, LocalPid, Monitor, Resource, ResourceArc};
use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

/// Number of locks; the hash of the caller selects one.
const SHARDS: usize = 64;

/// Monitors one caller.
struct CallerMonitor;

#[rustler::resource_impl]
impl Resource for CallerMonitor {
    fn down<'a>(&'a self, env: Env<'a>, caller: LocalPid, _monitor: Monitor) {
        let caller = word(env, caller);
        let left = shard(caller).remove(&caller);
        let guarded = left.map(|caller| caller.guarded).unwrap_or_default();
        if guarded.is_empty() {
            return;
        }
        lock(&ORPHANS).extend(guarded);
        if let Some(reaper) = env.whereis_pid(atoms::reaper()) {
            // If the reaper is going down, the next one reads the list.
            let _ = env.send(&reaper, atoms::orphans());
        }
    }
}

/// The resource that monitors a caller, and the processes that must not outlive it.
struct Caller {
    _monitor: ResourceArc<CallerMonitor>,
    /// The reaper that was found last: to see that it is alive is cheaper than to find it by its name.
    reaper: LocalPid,
    guarded: Vec<LocalPid>,
}

/// Callers by the word of their pid.
type Callers = HashMap<usize, Caller, BuildHasherDefault<Spread>>;

static CALLERS: LazyLock<Vec<Mutex<Callers>>> =
    LazyLock::new(|| (0..SHARDS).map(|_| Mutex::default()).collect());

/// Processes whose callers have ended, until the reaper takes them.
static ORPHANS: Mutex<Vec<LocalPid>> = Mutex::new(Vec::new());

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The word of a local pid, which is an immediate term.
fn word(env: Env, pid: LocalPid) -> usize {
    Raw::from(pid.encode(env)).identity()
}

fn shard(caller: usize) -> MutexGuard<'static, Callers> {
    lock(&CALLERS[(spread(caller as u64) >> 32) as usize % SHARDS])
}

/// Guards the calling process: it will be killed when `caller` ends. Returns `:gone` if the caller has ended
/// already, and `:none` if there is no reaper.
#[rustler::nif]
fn guard(env: Env, caller: LocalPid) -> Atom {
    let _clock = crate::clock::start("guard");
    let place = word(env, caller);
    let mut callers = shard(place);
    let known = callers.get_mut(&place);
    let reaper = match &known {
        Some(known) if known.reaper.is_alive(env) => Some(known.reaper),
        _ => env.whereis_pid(atoms::reaper()),
    };
    let Some(reaper) = reaper else {
        return atoms::none();
    };
    if let Some(known) = known {
        known.reaper = reaper;
        known.guarded.push(env.pid());
        return atoms::ok();
    }
    // The lock makes `down` wait until the entry is inserted.
    let monitor = ResourceArc::new(CallerMonitor);
    if monitor.monitor(Some(env), &caller).is_none() {
        return atoms::gone();
    }
    let entry = Caller {
        _monitor: monitor,
        reaper,
        guarded: vec![env.pid()],
    };
    callers.insert(place, entry);
    atoms::ok()
}

/// Stops guarding a process that the calling process had started, because it has ended or been killed.
#[rustler::nif]
fn unguard(env: Env, guarded: LocalPid) -> Atom {
    let _clock = crate::clock::start("unguard");
    let caller = word(env, env.pid());
    if let Some(known) = shard(caller).get_mut(&caller) {
        if let Some(place) = known.guarded.iter().position(|pid| *pid == guarded) {
            known.guarded.swap_remove(place);
        }
    }
    atoms::ok()
}

/// Whether the calling process has been killed, but still runs: for `PtcRunner.Sandbox.Guarded.settle/0`.
#[rustler::nif]
fn exiting(env: Env) -> bool {
    let _clock = crate::clock::start("exiting");
    !Terms { env }.caller_is_alive()
}

/// Takes the processes whose callers have ended out of the list.
#[rustler::nif]
fn take_orphans() -> Vec<LocalPid> {
    let _clock = crate::clock::start("take_orphans");
    std::mem::take(&mut *lock(&ORPHANS))
}
