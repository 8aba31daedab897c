//! Panics: each is a bug, caught where it would leave a NIF. What it said is kept for the log.

use rustler::Atom;
use std::panic::{set_hook, PanicHookInfo};
use std::sync::Mutex;

/// What panics said that nobody has asked for yet.
static SAID: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// So many are kept, and so many bytes of each message.
const MOST: usize = 16;
const LONGEST: usize = 1000;

/// With this in the environment of the VM, [`panic_for_test`] panics.
const TESTING: &str = "PTC_RUNNER_NATIVE_TEST_PANICS";

/// Keeps what a panic says; the default hook would print it to the node's terminal.
pub fn keep_messages() {
    set_hook(Box::new(|info| {
        // A panic while this is held would end the VM: nothing here can wait or fail.
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

/// The messages and places of the panics since the last call, oldest first.
#[rustler::nif]
fn take_panics() -> Vec<String> {
    let _clock = crate::clock::start("take_panics");
    match SAID.lock() {
        Ok(mut said) => std::mem::take(&mut *said),
        Err(_) => Vec::new(),
    }
}

rustler::atoms! { off }

/// Panics, or answers `:off` outside of tests.
#[rustler::nif]
fn panic_for_test(message: String) -> Atom {
    let _clock = crate::clock::start("panic_for_test");
    match std::env::var_os(TESTING) {
        Some(_) => panic!("{message}"),
        None => off(),
    }
}
