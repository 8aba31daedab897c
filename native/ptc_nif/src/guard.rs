//! Ends the process of a run's tools when its caller is gone: a resource that monitors the caller.
//!
//! The guarded process holds the resource, so the monitor ends with it. A callback of the VM cannot
//! end a process: the pid goes to a list, and the reaper, a process of the application, is told.
//! The list outlives a reaper, so that nothing is lost where one takes the place of another.

use crate::atoms;
use rustler::{Encoder, Env, LocalPid, Monitor, Resource, ResourceArc, Term};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The processes whose callers are gone, until the reaper takes them.
static ORPHANS: Mutex<Vec<LocalPid>> = Mutex::new(Vec::new());

fn orphans() -> MutexGuard<'static, Vec<LocalPid>> {
    ORPHANS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The process that must not outlive its caller.
pub struct Guard(LocalPid);

#[rustler::resource_impl]
impl Resource for Guard {
    fn down<'a>(&'a self, env: Env<'a>, _caller: LocalPid, _monitor: Monitor) {
        orphans().push(self.0);
        if let Some(reaper) = env.whereis_pid(atoms::reaper()) {
            // A reaper that is going down leaves the list to the next one.
            let _ = env.send(&reaper, atoms::orphans());
        }
    }
}

/// Guards the calling process: it will be killed when `caller` is gone, as long as it holds the
/// resource. `:gone` if that is so already, `:none` where there is no reaper.
#[rustler::nif]
fn guard<'a>(env: Env<'a>, caller: LocalPid) -> Term<'a> {
    let _clock = crate::clock::start("guard");
    if env.whereis_pid(atoms::reaper()).is_none() {
        return atoms::none().encode(env);
    }
    let guard = ResourceArc::new(Guard(env.pid()));
    match guard.monitor(Some(env), &caller) {
        Some(_) => guard.encode(env),
        None => atoms::gone().encode(env),
    }
}

/// The processes whose callers are gone, once each.
#[rustler::nif]
fn take_orphans() -> Vec<LocalPid> {
    let _clock = crate::clock::start("take_orphans");
    std::mem::take(&mut *orphans())
}
