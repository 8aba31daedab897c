//! The patterns of a program, each once.

use crate::code::PatternId;
use ptc_text::Pattern;
use std::collections::HashMap;

/// The patterns of a program that is compiled.
#[derive(Debug, Default)]
pub(super) struct Patterns {
    compiled: Vec<Pattern>,
    places: HashMap<Box<str>, PatternId>,
    words: usize,
}

impl Patterns {
    /// Returns the words of memory that they take.
    pub fn words(&self) -> usize {
        self.words
    }

    /// Returns the patterns, in order.
    pub fn compiled(self) -> Vec<Pattern> {
        self.compiled
    }

    /// Returns the number of a pattern that was compiled.
    pub fn place(&self, text: &str) -> Option<PatternId> {
        self.places.get(text).copied()
    }

    /// Adds a pattern that was compiled.
    pub fn add(&mut self, text: &str, pattern: Pattern) {
        self.words += pattern.words();
        self.places
            .insert(text.into(), self.compiled.len() as PatternId);
        self.compiled.push(pattern);
    }
}
