//! What the compiler knows of locals, functions and names: tables by their ids.

use super::LocalPlace;
use crate::ast::{Analyzed, LocalId, NameId};
use crate::table::Builtin;
use std::collections::HashSet;

/// Where the locals of the function are that is being compiled.
#[derive(Default)]
pub(super) struct LocalPlaces {
    /// For each local the function that it has a place in, and the place.
    all: Vec<Option<(u32, LocalPlace)>>,
    /// The number of the function.
    function: u32,
}

impl LocalPlaces {
    /// Returns those of a program with so many locals.
    pub fn of(locals: usize) -> Self {
        LocalPlaces {
            all: vec![None; locals],
            function: 0,
        }
    }

    /// Begins another function: no local has a place.
    pub fn begin(&mut self) {
        self.function += 1;
    }

    /// Returns the place of a local.
    #[inline]
    pub fn get(&self, local: LocalId) -> Option<LocalPlace> {
        match self.all[local as usize] {
            Some((function, place)) if function == self.function => Some(place),
            _ => None,
        }
    }

    /// Gives a local a place.
    #[inline]
    pub fn insert(&mut self, local: LocalId, place: LocalPlace) {
        self.all[local as usize] = Some((self.function, place));
    }
}

/// A set of ids below a known number.
#[derive(Default)]
pub(super) struct IdSet(Vec<bool>);

impl IdSet {
    /// Returns an empty one for so many ids.
    pub fn of(count: usize) -> Self {
        IdSet(vec![false; count])
    }

    /// Adds an id.
    pub fn insert(&mut self, id: u32) {
        self.0[id as usize] = true;
    }

    /// Returns whether it has an id.
    #[inline]
    pub fn contains(&self, id: u32) -> bool {
        self.0[id as usize]
    }
}

/// What a name means.
#[derive(Clone, Copy)]
pub(super) struct NameMeaning {
    /// The built-in of this name.
    pub builtin: Option<Builtin>,
    /// Whether it may be one of the user namespace, before the built-in.
    pub is_user: bool,
    /// Whether [`Names::builtins`](super::Names::builtins) has it.
    pub is_listed: bool,
    /// Its number among the names of the user namespace.
    pub global: Option<u32>,
}

/// Returns what all names of a program mean, in their order. `shadowed`: names of built-ins that the memory has.
pub(super) fn meanings(source: &Analyzed, shadowed: &[String]) -> Vec<NameMeaning> {
    let shadowed: HashSet<&str> = shadowed.iter().map(String::as_str).collect();
    let meaning = |name: &String| NameMeaning {
        builtin: Builtin::named(name),
        is_user: !shadowed.is_empty() && shadowed.contains(name.as_str()),
        is_listed: false,
        global: None,
    };
    let mut all: Vec<_> = source.names.iter().map(meaning).collect();
    for name in &source.defined {
        all[*name as usize].is_user = true;
    }
    all
}

/// The text of a name.
pub(super) fn text(source: &Analyzed, name: NameId) -> &str {
    &source.names[name as usize]
}
