//! Validation errors as terms, `%{path: [...], message: "..."}`.

use super::budget::Stop;
use super::kind::{kind, Kind};
use super::words::Words;
use crate::atoms;
use crate::raw::{Raw, Terms};
use ptc_core::signature::Scalar;
use rustler::types::atom::Atom;
use rustler::Encoder;

/// What was wanted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    Scalar(Scalar),
    List,
    Map,
}

impl Wanted {
    fn number(self) -> usize {
        match self {
            Wanted::Scalar(scalar) => scalar as usize,
            Wanted::Map => Scalar::Map as usize,
            Wanted::List => Scalar::ALL.len(),
        }
    }

    fn text(self) -> &'static str {
        match self {
            Wanted::Scalar(Scalar::DateTime) => "datetime (%DateTime{})",
            Wanted::Scalar(scalar) => scalar.name(),
            Wanted::Map => "map",
            Wanted::List => "list",
        }
    }
}

/// What was found in its place, where a word can say it.
const GOT: [&str; 8] = [
    "string",
    "int",
    "float",
    "bool",
    "keyword",
    "map",
    "list",
    "improper list",
];
const MAP: usize = 5;
const IMPROPER: usize = 7;

/// Paths are lists from the root, which share nothing: of deep values that are wrong at every
/// depth, no more than this many segments are reported.
const MOST_SEGMENTS: usize = 1 << 23;

/// The errors of one walk.
pub struct Errors<'a> {
    terms: Terms<'a>,
    list: Vec<Raw<'a>>,
    /// Errors without their path, by what was wanted and found.
    templates: [[Option<Raw<'a>>; GOT.len()]; Scalar::ALL.len() + 1],
    missing: Option<Raw<'a>>,
    path_key: Raw<'a>,
    segments: usize,
    /// Some still need `inspect/1`.
    unfinished: bool,
}

impl<'a> Errors<'a> {
    pub fn new(terms: Terms<'a>) -> Self {
        Errors {
            terms,
            list: Vec::new(),
            templates: [[None; GOT.len()]; Scalar::ALL.len() + 1],
            missing: None,
            path_key: Raw::from(atoms::path().encode(terms.env)),
            segments: 0,
            unfinished: false,
        }
    }

    pub fn count(&self) -> usize {
        self.list.len()
    }

    /// Takes back all but the first `count` errors.
    pub fn truncate(&mut self, count: usize) {
        self.list.truncate(count);
    }

    /// Another value than wanted. `segments` is its path, innermost first.
    pub fn refused(
        &mut self,
        words: &Words<'a>,
        segments: impl Iterator<Item = Raw<'a>>,
        wanted: Wanted,
        value: Raw<'a>,
    ) -> Result<(), Stop> {
        let path = self.path(segments);
        match self.got(words, value) {
            Some(got) => {
                let template = self.template(wanted, got);
                self.add(template, path)
            }
            None => {
                let text = format!("expected {}, got ", wanted.text());
                let text = self.terms.make_binary(text.as_bytes());
                self.add_unfinished(atoms::inspect(), path, text, value)
            }
        }
    }

    pub fn improper(&mut self, segments: impl Iterator<Item = Raw<'a>>) -> Result<(), Stop> {
        let path = self.path(segments);
        let template = self.template(Wanted::List, IMPROPER);
        self.add(template, path)
    }

    pub fn missing(&mut self, segments: impl Iterator<Item = Raw<'a>>) -> Result<(), Stop> {
        let path = self.path(segments);
        let template = match self.missing {
            Some(template) => template,
            None => *self
                .missing
                .insert(template(self.terms, "expected field, got nil")),
        };
        self.add(template, path)
    }

    /// Keys that a closed map has too many.
    pub fn unexpected(
        &mut self,
        segments: impl Iterator<Item = Raw<'a>>,
        keys: &[Raw<'a>],
    ) -> Result<(), Stop> {
        let path = self.path(segments);
        self.segments += keys.len();
        let keys = self.terms.make_list(keys);
        self.add_unfinished(atoms::unexpected(), path, keys, keys)
    }

    /// `{errors, finished?}`
    pub fn finish(&self) -> (Raw<'a>, bool) {
        (self.terms.make_list(&self.list), !self.unfinished)
    }

    fn path(&mut self, segments: impl Iterator<Item = Raw<'a>>) -> Raw<'a> {
        let mut count = 1;
        let path = segments.fold(self.terms.make_list(&[]), |path, segment| {
            count += 1;
            self.terms.cons(segment, path)
        });
        self.segments += count;
        path
    }

    fn add(&mut self, template: Raw<'a>, path: Raw<'a>) -> Result<(), Stop> {
        let error = self.terms.map_update(template, self.path_key, path);
        self.list.extend(error);
        self.limit()
    }

    #[cold]
    fn add_unfinished(
        &mut self,
        tag: Atom,
        path: Raw<'a>,
        detail: Raw<'a>,
        value: Raw<'a>,
    ) -> Result<(), Stop> {
        self.unfinished = true;
        let tag = Raw::from(tag.encode(self.terms.env));
        self.list
            .push(self.terms.make_tuple(&[tag, path, detail, value]));
        self.limit()
    }

    fn limit(&self) -> Result<(), Stop> {
        match self.segments > MOST_SEGMENTS {
            true => Err(Stop::TooMuch),
            false => Ok(()),
        }
    }

    fn got(&self, words: &Words<'a>, value: Raw<'a>) -> Option<usize> {
        Some(match kind(self.terms, value) {
            Kind::Bitstring if self.terms.is_binary(value) => 0,
            Kind::Integer => 1,
            Kind::Float => 2,
            Kind::Atom if words.is_bool(value) => 3,
            Kind::Atom => 4,
            Kind::Map => match self.terms.map_get(value, words.struct_key) {
                Some(module) if kind(self.terms, module) == Kind::Atom => return None,
                _ => MAP,
            },
            Kind::List => 6,
            _ => return None,
        })
    }

    fn template(&mut self, wanted: Wanted, got: usize) -> Raw<'a> {
        let terms = self.terms;
        let place = &mut self.templates[wanted.number()][got];
        *place.get_or_insert_with(|| {
            let text = format!("expected {}, got {}", wanted.text(), GOT[got]);
            template(terms, &text)
        })
    }
}

fn template<'a>(terms: Terms<'a>, message: &str) -> Raw<'a> {
    let word = |atom: Atom| Raw::from(atom.encode(terms.env));
    let nothing = terms.make_list(&[]);
    let message = terms.make_binary(message.as_bytes());
    let keys = [word(atoms::message()), word(atoms::path())];
    terms
        .make_map(&keys, &[message, nothing])
        .unwrap_or(nothing)
}
