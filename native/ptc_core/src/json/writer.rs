//! The writer: terms to JSON text, with an explicit stack and without looking at a term twice.

use super::put::{put_float, put_integer, put_string, NotUtf8};
use crate::stop::Stop;
use num_bigint::BigInt;

/// One term as the writer sees it.
#[derive(Debug)]
pub enum View<'s, T> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// An integer of 64 bits.
    Int(i64),
    /// Any other integer.
    Big(BigInt),
    /// A finite float.
    Float(f64),
    /// A string, whether it is UTF-8 or not.
    Text(&'s [u8]),
    /// An atom that is none of the above: a string, see [`Readable::name`].
    Name,
    /// A list, proper or not.
    List,
    /// A map whose keys and values stand side by side.
    Map(&'s [T], &'s [T]),
    /// Another map, with so many entries.
    LargeMap(usize),
    /// A struct, or anything that JSON has no form for.
    Foreign,
    /// Something that takes longer to look at than this slice allows.
    TooLong,
}

/// Terms that can be written.
pub trait Readable {
    /// A handle to a term.
    type Term: Copy;

    /// What a term is.
    fn view(&self, term: Self::Term) -> View<'_, Self::Term>;
    /// An atom's characters.
    fn name(&self, atom: Self::Term) -> String;
    /// Head and tail of a non-empty list.
    fn uncons(&self, term: Self::Term) -> Option<(Self::Term, Self::Term)>;
    /// The empty list, and nothing else.
    fn is_empty_list(&self, term: Self::Term) -> bool;
    /// All entries of a map. Linear.
    fn entries(&self, map: Self::Term) -> Vec<(Self::Term, Self::Term)>;
    /// Terms of the same identity are equal; equal terms may differ in it. Never 0.
    fn identity(&self, term: Self::Term) -> usize;
}

/// Why nothing was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal<T> {
    /// A key of a map that is no string, atom or number, or an improper list.
    Foreign(T),
    /// A string, and the offset in it where it stops being UTF-8.
    NotUtf8(T, usize),
    /// The text would be longer than the limit, or take as long to make.
    Exhausted,
    /// Another limit, or nobody waits for it.
    Stopped(Stop),
}

/// What the writer asks before it goes on: it wrote so many bytes since it asked last, or is about to
/// do what takes as long, and holds so many.
pub type Spend<'c> = dyn FnMut(usize, usize) -> Result<(), Stop> + 'c;

/// A place in the text, and the foreign term whose form belongs there.
pub type Gap<T> = (usize, T);

/// Writes `root` to `out`, which it empties first, and gives the gaps, in their order. `limit` is in
/// bytes of text: what is beyond is refused as soon as it is met.
pub fn write<R: Readable>(
    source: &R,
    root: R::Term,
    limit: usize,
    out: &mut Vec<u8>,
    spend: &mut Spend,
) -> Result<Vec<Gap<R::Term>>, Refusal<R::Term>> {
    out.clear();
    let mut writer = Writer {
        source,
        limit,
        out,
        toll: 0,
        opened: 0,
        gaps: Vec::new(),
        open: Vec::with_capacity(16),
        keys: [KeyText::default(); KEYS],
        asked: 0,
        spend,
    };
    writer.value(root)?;
    writer.rest()?;
    Ok(writer.gaps)
}

/// A list or map that is being written.
enum Open<'s, T> {
    List {
        /// For the report, should it turn out to be improper.
        whole: T,
        rest: T,
        first: bool,
    },
    Map {
        keys: &'s [T],
        values: &'s [T],
        at: usize,
    },
    LargeMap {
        entries: std::vec::IntoIter<(T, T)>,
        first: bool,
    },
}

/// How many keys are remembered; a power of two.
const KEYS: usize = 64;
/// Longer ones are not, and are written again each time.
const LONGEST: usize = 31;

/// What a gap costs, and an atom that has to be asked for its characters.
const TOLL: usize = 16;
/// What a list or a map costs, empty or not.
const OPENED: usize = 16;

/// So often it is asked whether somebody still waits.
const BYTES_BETWEEN_LOOKS: usize = 16_384;

/// So many bytes are written in a unit of fuel.
pub const BYTES_PER_UNIT: usize = 4;

/// From so many bytes on a string is asked for by itself.
const LONG: usize = 65_536;

const _: () = assert!(KEYS.is_power_of_two());

#[inline]
fn slot_of(identity: usize) -> usize {
    // Multiplied, since the low bits of addresses and atoms hardly differ.
    let mixed = (identity as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed >> (u64::BITS - KEYS.ilog2())) as usize
}

/// A key as it was written, from the byte before it to the colon.
#[derive(Clone, Copy, Default)]
struct KeyText {
    identity: usize,
    length: u8,
    text: [u8; LONGEST],
}

struct Writer<'s, 'o, 'c, R: Readable> {
    source: &'s R,
    limit: usize,
    out: &'o mut Vec<u8>,
    /// What took longer than its text shows, in bytes of text that take as long.
    toll: usize,
    /// The lists and maps that were opened.
    opened: usize,
    gaps: Vec<Gap<R::Term>>,
    /// Innermost last.
    open: Vec<Open<'s, R::Term>>,
    keys: [KeyText; KEYS],
    /// How much had been spent when it was asked last.
    asked: usize,
    spend: &'o mut Spend<'c>,
}

impl<R: Readable> Writer<'_, '_, '_, R> {
    /// Writes a scalar, or begins what is left to [`Writer::rest`]: a map's first bracket is written
    /// with its first key.
    #[inline]
    fn value(&mut self, term: R::Term) -> Result<(), Refusal<R::Term>> {
        let source = self.source;
        match source.view(term) {
            View::Text(text) => {
                self.check(text.len())?;
                self.string(term, text)?;
            }
            View::Int(value) => put_integer(self.out, value),
            View::Float(value) => put_float(self.out, value),
            View::Null => self.out.extend_from_slice(b"null"),
            View::Bool(true) => self.out.extend_from_slice(b"true"),
            View::Bool(false) => self.out.extend_from_slice(b"false"),
            View::Name => self.name(term)?,
            View::Big(value) => self.big(&value)?,
            View::List => {
                self.opened += 1;
                self.out.push(b'[');
                self.open.push(Open::List {
                    whole: term,
                    rest: term,
                    first: true,
                });
            }
            View::Map([], _) | View::LargeMap(0) => self.out.extend_from_slice(b"{}"),
            View::Map(keys, values) => {
                self.opened += 1;
                self.open.push(Open::Map {
                    keys,
                    values,
                    at: 0,
                });
            }
            View::LargeMap(size) => {
                self.check(size)?;
                self.open.push(Open::LargeMap {
                    entries: source.entries(term).into_iter(),
                    first: true,
                });
            }
            View::Foreign => {
                self.toll += TOLL;
                self.gaps.push((self.out.len(), term));
            }
            View::TooLong => return Err(Refusal::Stopped(Stop::SliceOver)),
        }
        self.check(0)
    }

    /// Goes on until all that is open is closed.
    fn rest(&mut self) -> Result<(), Refusal<R::Term>> {
        loop {
            if self.spent() - self.asked > BYTES_BETWEEN_LOOKS {
                self.ask(0)?;
            }
            let Some(open) = self.open.last_mut() else {
                return Ok(());
            };
            match open {
                Open::List { whole, rest, first } => match self.source.uncons(*rest) {
                    Some((head, tail)) => {
                        *rest = tail;
                        if !std::mem::take(first) {
                            self.out.push(b',');
                        }
                        self.value(head)?;
                    }
                    None if self.source.is_empty_list(*rest) => self.close(b']'),
                    None => return Err(Refusal::Foreign(*whole)),
                },
                Open::Map { keys, values, at } => match (keys.get(*at), values.get(*at)) {
                    (Some(key), Some(value)) => {
                        let (key, value) = (*key, *value);
                        let lead = if *at == 0 { b'{' } else { b',' };
                        *at += 1;
                        self.key(lead, key)?;
                        self.value(value)?;
                    }
                    _ => self.close(b'}'),
                },
                Open::LargeMap { entries, first } => match entries.next() {
                    Some((key, value)) => {
                        let lead = if std::mem::take(first) { b'{' } else { b',' };
                        self.key(lead, key)?;
                        self.value(value)?;
                    }
                    None => self.close(b'}'),
                },
            }
        }
    }

    /// What was done so far, in bytes of text that take as long.
    fn spent(&self) -> usize {
        self.out.len() + self.toll + OPENED * self.opened
    }

    /// Asks whether to go on, with what was written and `more`.
    #[cold]
    fn ask(&mut self, more: usize) -> Result<(), Refusal<R::Term>> {
        let spent = self.spent();
        let since = spent - self.asked;
        self.asked = spent;
        let held = self.out.capacity() + self.open.len() * size_of::<Open<R::Term>>();
        (self.spend)(since.saturating_add(more), held).map_err(Refusal::Stopped)
    }

    fn close(&mut self, bracket: u8) {
        self.out.push(bracket);
        self.open.pop();
    }

    /// Writes a key with its colon, after `lead`, which is `{` or a comma.
    #[inline]
    fn key(&mut self, lead: u8, key: R::Term) -> Result<(), Refusal<R::Term>> {
        let identity = self.source.identity(key);
        let slot = slot_of(identity);
        let known = &self.keys[slot];
        let start = self.out.len();
        if known.identity == identity {
            // All of it, since a length that is known here is copied without a call.
            self.out.extend_from_slice(&known.text);
            self.out.truncate(start + known.length as usize);
            self.out[start] = lead;
            return Ok(());
        }
        self.out.push(lead);
        self.new_key(key)?;
        let text = &self.out[start..];
        if let Some(place) = self.keys[slot].text.get_mut(..text.len()) {
            place.copy_from_slice(text);
            self.keys[slot].length = text.len() as u8;
            self.keys[slot].identity = identity;
        }
        Ok(())
    }

    /// Writes an atom that is a value as if it were a key, and takes the rest back.
    fn name(&mut self, atom: R::Term) -> Result<(), Refusal<R::Term>> {
        match self.out.pop() {
            Some(before) => self.key(before, atom)?,
            None => self.new_key(atom)?,
        }
        self.out.pop();
        Ok(())
    }

    fn new_key(&mut self, key: R::Term) -> Result<(), Refusal<R::Term>> {
        match self.source.view(key) {
            View::Text(text) => {
                self.check(text.len())?;
                self.string(key, text)?;
            }
            View::Name => {
                self.toll += TOLL;
                let name = self.source.name(key);
                self.string(key, name.as_bytes())?;
            }
            View::Null => self.out.extend_from_slice(b"\"nil\""),
            View::Bool(true) => self.out.extend_from_slice(b"\"true\""),
            View::Bool(false) => self.out.extend_from_slice(b"\"false\""),
            View::Int(value) => self.quoted(|writer| {
                put_integer(writer.out, value);
                Ok(())
            })?,
            View::Float(value) => self.quoted(|writer| {
                put_float(writer.out, value);
                Ok(())
            })?,
            View::Big(value) => self.quoted(|writer| writer.big(&value))?,
            View::TooLong => return Err(Refusal::Stopped(Stop::SliceOver)),
            _ => return Err(Refusal::Foreign(key)),
        }
        self.out.push(b':');
        Ok(())
    }

    fn quoted(
        &mut self,
        put: impl FnOnce(&mut Self) -> Result<(), Refusal<R::Term>>,
    ) -> Result<(), Refusal<R::Term>> {
        self.out.push(b'"');
        put(self)?;
        self.out.push(b'"');
        Ok(())
    }

    #[inline]
    fn string(&mut self, term: R::Term, text: &[u8]) -> Result<(), Refusal<R::Term>> {
        if text.len() > LONG {
            self.ask(text.len() / 8)?;
        }
        put_string(self.out, text).map_err(|NotUtf8(at)| Refusal::NotUtf8(term, at))
    }

    /// The time it takes to find the decimal digits grows nearly with the square of their number.
    fn big(&mut self, value: &BigInt) -> Result<(), Refusal<R::Term>> {
        let limbs = value.bits() as usize / 64;
        let time = limbs.saturating_mul(limbs) / 4;
        self.check(time)?;
        if time > BYTES_BETWEEN_LOOKS {
            self.ask(time)?;
        }
        self.out.extend_from_slice(value.to_string().as_bytes());
        Ok(())
    }

    /// Refuses what takes the text, or the time, `more` bytes beyond the limit.
    #[inline]
    fn check(&self, more: usize) -> Result<(), Refusal<R::Term>> {
        let spent = self.out.len() + self.toll;
        match spent.saturating_add(more) > self.limit {
            true => Err(Refusal::Exhausted),
            false => Ok(()),
        }
    }
}
