//! Ends the processes of runs' tools when their caller is gone.
//!
//! One resource a caller monitors it, from its first tool on; a monitor for each run would cost as
//! much as half a process. What is guarded stands beside the resource. When the caller is gone, it
//! moves to a list, and the reaper, a process of the application, is told to end it: a callback of
//! the VM cannot. The list outlives a reaper, so that nothing is lost where another takes its place.

use crate::atoms;
use rustler::{Atom, Env, LocalPid, Monitor, Resource, ResourceArc};
use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

/// So many locks there are, by caller.
const SHARDS: usize = 64;

/// Monitors one caller.
struct Watch;

#[rustler::resource_impl]
impl Resource for Watch {
    fn down<'a>(&'a self, env: Env<'a>, caller: LocalPid, _monitor: Monitor) {
        let left = shard(&caller).remove(&caller);
        let guarded = left.map(|caller| caller.guarded).unwrap_or_default();
        if guarded.is_empty() {
            return;
        }
        lock(&ORPHANS).extend(guarded);
        if let Some(reaper) = env.whereis_pid(atoms::reaper()) {
            // A reaper that is going down leaves the list to the next one.
            let _ = env.send(&reaper, atoms::orphans());
        }
    }
}

/// A caller: what monitors it, and the processes that must not outlive it.
struct Caller {
    _watch: ResourceArc<Watch>,
    guarded: Vec<LocalPid>,
}

type Callers = HashMap<LocalPid, Caller, BuildHasherDefault<DefaultHasher>>;

static CALLERS: LazyLock<Vec<Mutex<Callers>>> =
    LazyLock::new(|| (0..SHARDS).map(|_| Mutex::default()).collect());

/// The processes whose callers are gone, until the reaper takes them.
static ORPHANS: Mutex<Vec<LocalPid>> = Mutex::new(Vec::new());

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn shard(caller: &LocalPid) -> MutexGuard<'static, Callers> {
    let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(caller);
    lock(&CALLERS[(hash >> 32) as usize % SHARDS])
}

/// Guards the calling process: it will be killed when `caller` is gone. `:gone` if that is so already,
/// `:none` where there is no reaper.
#[rustler::nif]
fn guard(env: Env, caller: LocalPid) -> Atom {
    let _clock = crate::clock::start("guard");
    if env.whereis_pid(atoms::reaper()).is_none() {
        return atoms::none();
    }
    let mut callers = shard(&caller);
    if let Some(known) = callers.get_mut(&caller) {
        known.guarded.push(env.pid());
        return atoms::ok();
    }
    // The lock keeps the end of the caller waiting until there is something to find.
    let watch = ResourceArc::new(Watch);
    match watch.monitor(Some(env), &caller) {
        None => atoms::gone(),
        Some(_) => {
            let guarded = vec![env.pid()];
            callers.insert(
                caller,
                Caller {
                    _watch: watch,
                    guarded,
                },
            );
            atoms::ok()
        }
    }
}

/// The calling process no longer cares about one that it had started, because that has ended or been
/// killed.
#[rustler::nif]
fn unguard(env: Env, guarded: LocalPid) -> Atom {
    let _clock = crate::clock::start("unguard");
    let caller = env.pid();
    if let Some(known) = shard(&caller).get_mut(&caller) {
        if let Some(place) = known.guarded.iter().position(|pid| *pid == guarded) {
            known.guarded.swap_remove(place);
        }
    }
    atoms::ok()
}

/// The processes whose callers are gone, once each.
#[rustler::nif]
fn take_orphans() -> Vec<LocalPid> {
    let _clock = crate::clock::start("take_orphans");
    std::mem::take(&mut *lock(&ORPHANS))
}
