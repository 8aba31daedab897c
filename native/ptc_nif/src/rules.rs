//! The rules for values and signatures, which depend on the release of ptc_runner in the application: those of
//! this library, until `use_rules/1` sets others.

use crate::clock::nif;
use ptc_type::Rules;
use rustler::Atom;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the rules before 0.11.0 are used. No other data depends on it, so no order is needed.
static BEFORE_0_11: AtomicBool = AtomicBool::new(false);

/// Returns the rules in use.
#[inline]
pub fn current() -> Rules {
    match BEFORE_0_11.load(Ordering::Relaxed) {
        true => Rules::BEFORE_0_11,
        false => Rules::NEWEST,
    }
}

nif! {
    /// Sets the rules for the whole VM.
    fn use_rules(before_0_11: bool) -> Atom {
        BEFORE_0_11.store(before_0_11, Ordering::Relaxed);
        crate::atoms::ok()
    }
}
