//! Which values types accept and which syntax signatures have: plain data, because releases of ptc_runner
//! differ in it.

use ptc_term::names::Matching;
use std::sync::atomic::{AtomicBool, Ordering};

/// The rules of a release.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// A string with the characters of a keyword is a value of `:keyword`.
    pub strings_are_keywords: bool,
    /// A struct is a map.
    pub structs_are_maps: bool,
    /// How validation matches the keys of maps with declared names.
    pub matching: Matching,
    /// Signatures have `:datetime`, `:boolean`, and a `?` after lists and maps.
    pub newer_syntax: bool,
}

impl Rules {
    /// The rules of this library, and of ptc_runner from 0.11.0 on.
    pub const NEWEST: Rules = Rules {
        strings_are_keywords: true,
        structs_are_maps: false,
        matching: Matching::Lenient,
        newer_syntax: true,
    };

    /// The rules of ptc_runner before 0.11.0.
    pub const BEFORE_0_11: Rules = Rules {
        strings_are_keywords: false,
        structs_are_maps: true,
        matching: Matching::Underscored,
        newer_syntax: false,
    };
}

/// Whether the rules before 0.11.0 are used. No other data depends on it, so no order is needed.
static BEFORE_0_11: AtomicBool = AtomicBool::new(false);

impl Rules {
    /// Returns the rules in use: the newest ones, until [`Rules::use_before_0_11`] sets others.
    #[inline]
    pub fn current() -> Rules {
        match BEFORE_0_11.load(Ordering::Relaxed) {
            true => Rules::BEFORE_0_11,
            false => Rules::NEWEST,
        }
    }

    /// Sets the rules for the whole process.
    pub fn use_before_0_11(before: bool) {
        BEFORE_0_11.store(before, Ordering::Relaxed);
    }
}

impl Default for Rules {
    fn default() -> Self {
        Rules::NEWEST
    }
}
