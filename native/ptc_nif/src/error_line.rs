//! Validation errors in one line: `format_validation_errors/1` for errors as validation makes them.

use crate::atoms;
use crate::raw::{Raw, Terms};
use crate::signature::Pace;
use rustler::sys::ErlNifTerm;
use rustler::{Atom, Encoder, Env, Term};

/// As many path segments and errors are written on a scheduler's own thread: a quarter of a
/// millisecond.
const PARTS_IN_A_SLICE: usize = 5_000;

enum Stop {
    /// Something that only Elixir knows how to write.
    Other,
    Busy,
}

struct Line<'a> {
    terms: Terms<'a>,
    path: Raw<'a>,
    message: Raw<'a>,
    text: Vec<u8>,
    parts_left: usize,
    /// Strings by their place in memory: errors share their messages and the names of fields.
    seen: [Option<(ErlNifTerm, &'a [u8])>; SEEN],
    oldest: usize,
}

const SEEN: usize = 4;

impl<'a> Line<'a> {
    fn spend(&mut self) -> Result<(), Stop> {
        self.parts_left = self.parts_left.checked_sub(1).ok_or(Stop::Busy)?;
        Ok(())
    }

    /// Shows the elements of a proper list.
    fn each(
        &mut self,
        list: Raw<'a>,
        mut write: impl FnMut(&mut Self, Raw<'a>, bool) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let (mut rest, mut first) = (list, true);
        while let Some((element, tail)) = self.terms.uncons(rest) {
            self.spend()?;
            write(self, element, first)?;
            (rest, first) = (tail, false);
        }
        match self.terms.is_empty_list(rest) {
            true => Ok(()),
            false => Err(Stop::Other),
        }
    }

    fn error(&mut self, error: Raw<'a>) -> Result<(), Stop> {
        let terms = self.terms;
        let path = terms.map_get(error, self.path).ok_or(Stop::Other)?;
        let message = terms.map_get(error, self.message).ok_or(Stop::Other)?;
        match terms.is_empty_list(path) {
            true => self.text.extend_from_slice(b"root"),
            false => self.each(path, Line::segment)?,
        }
        self.text.extend_from_slice(b": ");
        self.string(message)
    }

    fn segment(&mut self, segment: Raw<'a>, first: bool) -> Result<(), Stop> {
        if !first {
            self.text.push(b'.');
        }
        match self.terms.integer(segment) {
            Some(index) => {
                self.index(index);
                Ok(())
            }
            None => self.string(segment),
        }
    }

    /// A place in a list: `write!` would take most of the time of an error.
    fn index(&mut self, index: i64) {
        let Ok(mut rest) = u64::try_from(index) else {
            return self.text.extend_from_slice(index.to_string().as_bytes());
        };
        let mut digits = [0; 20];
        let mut at = digits.len();
        loop {
            at -= 1;
            digits[at] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        self.text.extend_from_slice(&digits[at..]);
    }

    fn string(&mut self, term: Raw<'a>) -> Result<(), Stop> {
        let known = self
            .seen
            .iter()
            .flatten()
            .find(|(word, _)| *word == term.word());
        let bytes = match known {
            Some((_, bytes)) => bytes,
            None => {
                let bytes = self.terms.bytes(term).ok_or(Stop::Other)?;
                self.seen[self.oldest] = Some((term.word(), bytes));
                self.oldest = (self.oldest + 1) % SEEN;
                bytes
            }
        };
        self.text.extend_from_slice(bytes);
        Ok(())
    }
}

/// The line, as far as it takes no longer than `pace` allows and all terms are known.
pub fn error_text<'a>(env: Env<'a>, errors: Raw<'a>, pace: Pace) -> Option<Raw<'a>> {
    write(env, errors, pace).ok()
}

fn write<'a>(env: Env<'a>, errors: Raw<'a>, pace: Pace) -> Result<Raw<'a>, Stop> {
    let key = |atom: Atom| Raw::from(atom.encode(env));
    let mut line = Line {
        terms: Terms { env },
        path: key(atoms::path()),
        message: key(atoms::message()),
        text: Vec::new(),
        parts_left: match pace {
            Pace::Slice => PARTS_IN_A_SLICE,
            Pace::Whole => usize::MAX,
        },
        seen: [None; SEEN],
        oldest: 0,
    };
    line.each(errors, |line, error, first| {
        if !first {
            line.text.extend_from_slice(b"; ");
        }
        line.error(error)
    })?;
    Ok(line.terms.make_binary(&line.text))
}

/// The line, `:other` or `:busy`.
fn line<'a>(env: Env<'a>, errors: Term<'a>, pace: Pace) -> Term<'a> {
    match write(env, errors.into(), pace) {
        Ok(text) => text.term(env),
        Err(Stop::Other) => atoms::other().encode(env),
        Err(Stop::Busy) => atoms::busy().encode(env),
    }
}

/// Writes errors.
#[rustler::nif]
fn error_line<'a>(env: Env<'a>, errors: Term<'a>) -> Term<'a> {
    let _clock = crate::clock::start("error_line");
    line(env, errors, Pace::Slice)
}

/// Writes more of them.
#[rustler::nif(schedule = "DirtyCpu")]
fn error_line_dirty<'a>(env: Env<'a>, errors: Term<'a>) -> Term<'a> {
    let _clock = crate::clock::start("error_line_dirty");
    line(env, errors, Pace::Whole)
}
