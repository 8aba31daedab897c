//! Writes validation errors as one line: `format_validation_errors/1` for errors as validation makes them.
//! The length is limited as in `PtcRunner.SubAgent.Loop.JsonHandler.ErrorLine`.

use crate::atoms;
use crate::heap::Beam;
use crate::map_view::KeyCache;
use crate::raw::{Raw, Terms};
use crate::schedule::{nif_pair, settle, whole, Pace};
use ptc_core::heap::{Heap, Lookup};
use ptc_core::meter::{Limits, Meter};
use ptc_core::signature::findings::LONGEST_PATH;
use rustler::sys::ErlNifTerm;
use rustler::{Atom, Encoder, Env, Term};

/// Fuel for a path segment or an error, and bytes that are copied for one unit of fuel.
const FUEL_A_PART: usize = 5;
const BYTES_A_UNIT: usize = 64;

/// Maximum bytes of a path, and of a message.
const PART: usize = LONGEST_PATH;

/// Maximum bytes of the line, without the number of omitted errors.
const LONGEST_LINE: usize = 1_048_576;

enum Unwritten {
    /// A term that only Elixir can write.
    Other,
    Busy,
}

struct Line<'a> {
    heap: Beam<'a>,
    terms: Terms<'a>,
    meter: Meter,
    path: (Raw<'a>, KeyCache),
    message: (Raw<'a>, KeyCache),
    text: Vec<u8>,
    /// Bytes of the current path or message, including those that are cut off.
    part: usize,
    /// Recent strings by word: errors share their messages and the names of fields.
    seen: [Option<(ErlNifTerm, &'a [u8])>; SEEN],
    oldest: usize,
}

const SEEN: usize = 4;

impl<'a> Line<'a> {
    /// Consumes fuel for the work that follows.
    fn spend(&mut self, units: usize) -> Result<(), Unwritten> {
        let spent = self.meter.consume_fuel(units, &self.heap);
        spent.map_err(|_| Unwritten::Busy)
    }

    /// Calls `write` with the elements of a proper list.
    fn each(
        &mut self,
        list: Raw<'a>,
        mut write: impl FnMut(&mut Self, Raw<'a>, bool) -> Result<(), Unwritten>,
    ) -> Result<(), Unwritten> {
        let (mut rest, mut first) = (list, true);
        while let Some((element, tail)) = self.terms.uncons(rest) {
            self.spend(FUEL_A_PART)?;
            write(self, element, first)?;
            (rest, first) = (tail, false);
        }
        match self.terms.is_empty_list(rest) {
            true => Ok(()),
            false => Err(Unwritten::Other),
        }
    }

    fn error(&mut self, error: Raw<'a>) -> Result<(), Unwritten> {
        let terms = self.terms;
        let path = field(&self.heap, error, &mut self.path)?;
        let message = field(&self.heap, error, &mut self.message)?;
        match terms.is_empty_list(path) {
            true => self.text.extend_from_slice(b"root"),
            false => self.part(|line| line.each(path, Line::segment))?,
        }
        self.text.extend_from_slice(b": ");
        self.part(|line| line.string(message))
    }

    /// Writes a path or a message; a long one is cut off, with a note of its size.
    fn part(
        &mut self,
        write: impl FnOnce(&mut Self) -> Result<(), Unwritten>,
    ) -> Result<(), Unwritten> {
        let start = self.text.len();
        self.part = 0;
        write(self)?;
        if self.part > PART {
            let note = format!("… ({} bytes)", self.part);
            let mut end = start + PART - note.len();
            // Do not split a character.
            let inside = |end: usize| matches!(self.text[end], 0x80..=0xBF);
            let steps = (0..3).take_while(|step| inside(end - step)).count();
            end -= steps;
            self.text.truncate(end);
            self.text.extend_from_slice(note.as_bytes());
        }
        Ok(())
    }

    /// Appends to a path or message, up to the limit.
    fn push(&mut self, bytes: &[u8]) {
        let room = (PART + 1).saturating_sub(self.part).min(bytes.len());
        self.text.extend_from_slice(&bytes[..room]);
        self.part += bytes.len();
    }

    fn segment(&mut self, segment: Raw<'a>, first: bool) -> Result<(), Unwritten> {
        if !first {
            self.push(b".");
        }
        match self.terms.integer(segment) {
            Some(index) => {
                self.index(index);
                Ok(())
            }
            None => self.string(segment),
        }
    }

    /// Writes an index: `write!` would take most of the time of an error.
    fn index(&mut self, index: i64) {
        let Ok(mut rest) = u64::try_from(index) else {
            return self.push(index.to_string().as_bytes());
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
        self.push(&digits[at..]);
    }

    fn string(&mut self, term: Raw<'a>) -> Result<(), Unwritten> {
        let known = self
            .seen
            .iter()
            .flatten()
            .find(|(word, _)| *word == term.word());
        let bytes = match known {
            Some((_, bytes)) => bytes,
            None => {
                let bytes = self.terms.bytes(term).ok_or(Unwritten::Other)?;
                self.seen[self.oldest] = Some((term.word(), bytes));
                self.oldest = (self.oldest + 1) % SEEN;
                bytes
            }
        };
        self.spend(bytes.len().min(PART) / BYTES_A_UNIT)?;
        self.push(bytes);
        Ok(())
    }
}

/// The value of a field of an error, which is a map.
fn field<'a>(
    heap: &Beam<'a>,
    error: Raw<'a>,
    (key, cache): &mut (Raw<'a>, KeyCache),
) -> Result<Raw<'a>, Unwritten> {
    match heap.lookup_atom(error, *key, cache) {
        Lookup::Found(value) => Ok(value),
        Lookup::Missing | Lookup::NotAMap => Err(Unwritten::Other),
    }
}

fn write<'a>(env: Env<'a>, errors: Raw<'a>, pace: Pace) -> Result<Raw<'a>, Unwritten> {
    let key = |atom: Atom| (Raw::from(atom.encode(env)), KeyCache::default());
    let mut line = Line {
        heap: Beam::new(env, 0),
        terms: Terms { env },
        meter: whole(Limits::UNLIMITED, pace),
        path: key(atoms::path()),
        message: key(atoms::message()),
        text: Vec::new(),
        part: 0,
        seen: [None; SEEN],
        oldest: 0,
    };
    let mut more = 0;
    line.each(errors, |line, error, first| {
        if more > 0 {
            more += 1;
            return Ok(());
        }
        let before = line.text.len();
        if !first {
            line.text.extend_from_slice(b"; ");
        }
        line.error(error)?;
        // Each error counts with the two bytes of its separator.
        if line.text.len() + 2 > LONGEST_LINE {
            line.text.truncate(before);
            more = 1;
        }
        Ok(())
    })?;
    if more > 0 {
        let note = format!("; and {more} more");
        line.text.extend_from_slice(note.as_bytes());
    }
    line.spend(line.text.len() / BYTES_A_UNIT)?;
    settle(env, &line.meter);
    Ok(line.terms.make_binary(&line.text))
}

nif_pair! {
    /// `{:ok, line}`, `:other` or `:busy`.
    fn error_line, error_line_dirty<'a>(env, pace, errors: Term<'a>) -> Term<'a> {
        match write(env, errors.into(), pace) {
            Ok(text) => (atoms::ok(), text.term(env)).encode(env),
            Err(Unwritten::Other) => atoms::other().encode(env),
            Err(Unwritten::Busy) => atoms::busy().encode(env),
        }
    }
}
