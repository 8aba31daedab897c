//! Catches the messages of panics and keeps them for the log. Each panic is a bug.

use crate::clock::nif;
use rustler::Atom;
use std::panic::{set_hook, PanicHookInfo};
use std::sync::Mutex;

/// Messages of panics that have not been read yet.
static SAID: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Maximum number of messages, and maximum characters of each.
const MOST: usize = 16;
const LONGEST: usize = 1000;

/// [`panic_for_test`] panics only if this variable is set in the environment of the VM.
const TESTING: &str = "PTC_RUNNER_NATIVE_TEST_PANICS";

/// Installs a hook that keeps the messages; the default hook would print them to the node's terminal.
pub fn keep_messages() {
    set_hook(Box::new(|info| {
        // A panic while the lock is held would end the VM, so nothing here can wait or fail.
        if let Ok(mut said) = SAID.try_lock() {
            if said.len() < MOST {
                said.push(text(info));
            }
        }
    }));
}

fn text(info: &PanicHookInfo) -> String {
    let message: String = info
        .payload_as_str()
        .unwrap_or("a value that is no text")
        .chars()
        .take(LONGEST)
        .collect();
    match info.location() {
        Some(place) => format!("{message} ({}:{})", place.file(), place.line()),
        None => message,
    }
}

nif! {
    /// Takes the messages and locations of the panics since the last call, oldest first.
    fn take_panics() -> Vec<String> {
        match SAID.lock() {
            Ok(mut said) => std::mem::take(&mut *said),
            Err(_) => Vec::new(),
        }
    }
}

rustler::atoms! { off }

nif! {
    /// Panics, or returns `:off` outside of tests.
    fn panic_for_test(message: String) -> Atom {
        match std::env::var_os(TESTING) {
            Some(_) => panic!("{message}"),
            None => off(),
        }
    }
}
