//! The writer: terms to JSON text, with an explicit stack and without looking at a term twice. It can be
//! left in the middle, see [`draft`](super::draft).

use super::draft::{Draft, Open, Stack, Thawed};
use super::put::{put_chars, put_float, put_integer, put_string, NotUtf8};
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

    /// A string or an integer as it is best kept between two calls.
    fn to_keep(&self, term: Self::Term) -> Self::Term {
        term
    }
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
/// bytes of text: what is beyond is refused as soon as it is met. It is never left in the middle:
/// stopped is stopped.
pub fn write<R: Readable>(
    source: &R,
    root: R::Term,
    limit: usize,
    out: &mut Vec<u8>,
    spend: &mut Spend,
) -> Result<Vec<Gap<R::Term>>, Refusal<R::Term>> {
    let mut draft = Draft::new(std::mem::take(out));
    let mut writer = Writer::new(source, &mut draft, None, limit, spend);
    writer.open_at_once = usize::MAX;
    let written = writer.begin(root).and_then(|()| writer.go_on());
    let (_, foreign) = writer.freeze();
    *out = draft.text;
    written.map(|()| draft.gaps.into_iter().zip(foreign).collect())
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

/// A longer string is written in parts of this length.
const LONG: usize = 16_384;
/// A map of more entries is asked for by itself, and what an entry costs then, in bytes of text: it may
/// have to be frozen, too.
const MANY: usize = 1024;
const BYTES_OF_ENTRY: usize = 48;
/// With so much open, a writer that can go on is left: to freeze it takes longer than to open it.
const OPEN_AT_ONCE: usize = 8_192;
/// The bytes of memory that a frozen term takes: a list cell.
const BYTES_OF_FROZEN: usize = 16;

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

/// Writes to a draft for one call.
pub struct Writer<'s, 'o, 'c, R: Readable> {
    source: &'s R,
    limit: usize,
    draft: &'o mut Draft,
    stack: Stack<'s, R::Term>,
    /// With so much open it is left.
    open_at_once: usize,
    /// The terms of the new gaps.
    foreign: Vec<R::Term>,
    keys: [KeyText; KEYS],
    spend: &'o mut Spend<'c>,
}

impl<'s, 'o, 'c, R: Readable> Writer<'s, 'o, 'c, R> {
    /// A writer that goes on with a draft; `frozen` has the terms that were frozen, as a list, last
    /// one first. `limit` is in bytes of text.
    pub fn new(
        source: &'s R,
        draft: &'o mut Draft,
        frozen: Option<R::Term>,
        limit: usize,
        spend: &'o mut Spend<'c>,
    ) -> Self {
        Writer {
            source,
            limit,
            draft,
            stack: Stack::new(frozen),
            open_at_once: OPEN_AT_ONCE,
            foreign: Vec::new(),
            keys: [KeyText::default(); KEYS],
            spend,
        }
    }

    /// The terms to put onto those that were frozen before, which [`Writer::frozen`] gives, and the
    /// foreign terms of the new gaps, both in their order.
    pub fn freeze(self) -> (Vec<R::Term>, Vec<R::Term>) {
        (self.stack.freeze(self.source, self.draft), self.foreign)
    }

    /// The terms that were frozen before and not taken back.
    pub fn frozen(&self) -> Option<R::Term> {
        self.stack.frozen
    }

    /// Begins with a term; [`Writer::go_on`] writes it.
    pub fn begin(&mut self, root: R::Term) -> Result<(), Refusal<R::Term>> {
        self.value(root)
    }

    /// Writes a scalar, or begins what is left to [`Writer::go_on`]: a map's first bracket is written
    /// with its first key.
    #[inline]
    fn value(&mut self, term: R::Term) -> Result<(), Refusal<R::Term>> {
        let source = self.source;
        match source.view(term) {
            View::Text(text) => self.string(term, text, false)?,
            View::Int(value) => put_integer(&mut self.draft.text, value),
            View::Float(value) => put_float(&mut self.draft.text, value),
            View::Null => self.draft.text.extend_from_slice(b"null"),
            View::Bool(true) => self.draft.text.extend_from_slice(b"true"),
            View::Bool(false) => self.draft.text.extend_from_slice(b"false"),
            View::Name => self.name(term)?,
            View::Big(value) => self.big(term, &value, false)?,
            View::List => {
                self.draft.opened += 1;
                self.draft.text.push(b'[');
                self.stack.live.push(Open::List {
                    whole: term,
                    rest: term,
                    first: true,
                });
            }
            View::Map([], _) | View::LargeMap(0) => self.draft.text.extend_from_slice(b"{}"),
            View::Map(keys, values) => {
                self.draft.opened += 1;
                self.stack.live.push(Open::Map {
                    map: term,
                    keys,
                    values,
                    at: 0,
                });
            }
            View::LargeMap(size) => {
                self.check(size)?;
                self.stack.live.push(match size {
                    ..=MANY => self.opened(term),
                    _ => Open::Unopened(term),
                });
            }
            View::Foreign => {
                self.draft.toll += TOLL;
                self.draft.gaps.push(self.draft.text.len());
                self.foreign.push(term);
            }
            View::TooLong => return self.put_off(Open::Value(term)),
        }
        self.check(0)
    }

    /// Leaves what takes longer to look at than this slice allows to the next call.
    #[cold]
    fn put_off(&mut self, open: Open<'s, R::Term>) -> Result<(), Refusal<R::Term>> {
        self.stack.live.push(open);
        Err(Refusal::Stopped(Stop::SliceOver))
    }

    fn opened(&self, map: R::Term) -> Open<'s, R::Term> {
        Open::LargeMap {
            entries: self.source.entries(map).into_iter(),
            first: true,
        }
    }

    /// Goes on until all that is open is closed. Where it is stopped since its slice or quantum is over,
    /// it can be frozen.
    pub fn go_on(&mut self) -> Result<(), Refusal<R::Term>> {
        loop {
            if self.spent() - self.draft.asked > BYTES_BETWEEN_LOOKS {
                self.ask(0)?;
            }
            let Some(open) = self.stack.live.last_mut() else {
                match self.stack.thaw(self.source, self.draft) {
                    Some(Thawed::Open) => continue,
                    Some(Thawed::Nothing) => return Ok(()),
                    None => return Err(Refusal::Stopped(Stop::Abandoned)),
                }
            };
            match open {
                Open::List { whole, rest, first } => match self.source.uncons(*rest) {
                    Some((head, tail)) => {
                        *rest = tail;
                        if !std::mem::take(first) {
                            self.draft.text.push(b',');
                        }
                        self.value(head)?;
                    }
                    None if self.source.is_empty_list(*rest) => self.close(b']'),
                    None => return Err(Refusal::Foreign(*whole)),
                },
                Open::Map {
                    keys, values, at, ..
                } => match (keys.get(*at), values.get(*at)) {
                    (Some(key), Some(value)) => {
                        let (key, value) = (*key, *value);
                        let lead = if *at == 0 { b'{' } else { b',' };
                        *at += 1;
                        self.entry(lead, key, value)?;
                    }
                    _ => self.close(b'}'),
                },
                Open::LargeMap { entries, first } => match entries.next() {
                    Some((key, value)) => {
                        let lead = if std::mem::take(first) { b'{' } else { b',' };
                        self.entry(lead, key, value)?;
                    }
                    None => self.close(b'}'),
                },
                Open::Frozen { left: 0, .. } => self.close(b'}'),
                Open::Frozen { left, first } => {
                    *left -= 1;
                    let lead = if std::mem::take(first) { b'{' } else { b',' };
                    let mut pop = || self.stack.pop(self.source, self.draft);
                    match (pop(), pop()) {
                        (Some(key), Some(value)) => self.entry(lead, key, value)?,
                        _ => return Err(Refusal::Stopped(Stop::Abandoned)),
                    }
                }
                Open::Unopened(map) => {
                    let map = *map;
                    if let View::LargeMap(size) = self.source.view(map) {
                        self.ask(size.saturating_mul(BYTES_OF_ENTRY))?;
                    }
                    self.stack.live.pop();
                    self.stack.live.push(self.opened(map));
                }
                Open::Long { scalar, at, is_key } => {
                    let (scalar, at, is_key) = (*scalar, *at, *is_key);
                    self.long(scalar, at, is_key)?;
                }
                Open::Value(value) => {
                    let value = *value;
                    self.stack.live.pop();
                    self.value(value)?;
                }
            }
        }
    }

    /// What was done so far, in bytes of text that take as long.
    fn spent(&self) -> usize {
        self.draft.text.len() + self.draft.toll + OPENED * self.draft.opened
    }

    /// Asks whether to go on, with what was written and `more`.
    #[cold]
    fn ask(&mut self, more: usize) -> Result<(), Refusal<R::Term>> {
        let spent = self.spent();
        let since = spent - self.draft.asked;
        self.draft.asked = spent;
        let open = self.stack.live.len() * size_of::<Open<R::Term>>();
        let held = self.draft.text.capacity() + open + self.draft.frozen * BYTES_OF_FROZEN;
        (self.spend)(since.saturating_add(more), held).map_err(Refusal::Stopped)?;
        match self.stack.live.len() > self.open_at_once {
            true => Err(Refusal::Stopped(Stop::SliceOver)),
            false => Ok(()),
        }
    }

    fn close(&mut self, bracket: u8) {
        self.draft.text.push(bracket);
        self.stack.live.pop();
    }

    /// Writes an entry of a map, after `lead`, which is `{` or a comma.
    #[inline]
    fn entry(&mut self, lead: u8, key: R::Term, value: R::Term) -> Result<(), Refusal<R::Term>> {
        match self.key(lead, key)? {
            Key::Written => self.value(value),
            Key::Long => {
                self.stack.live.push(Open::Value(value));
                self.stack.live.push(Open::Long {
                    scalar: key,
                    at: 0,
                    is_key: true,
                });
                Ok(())
            }
        }
    }

    /// Writes a key with its colon, after `lead`.
    #[inline]
    fn key(&mut self, lead: u8, key: R::Term) -> Result<Key, Refusal<R::Term>> {
        let identity = self.source.identity(key);
        let slot = slot_of(identity);
        let known = &self.keys[slot];
        let text = &mut self.draft.text;
        let start = text.len();
        if known.identity == identity {
            // All of it, since a length that is known here is copied without a call.
            text.extend_from_slice(&known.text);
            text.truncate(start + known.length as usize);
            text[start] = lead;
            return Ok(Key::Written);
        }
        text.push(lead);
        if let Key::Long = self.new_key(key)? {
            return Ok(Key::Long);
        }
        let text = &self.draft.text[start..];
        if let Some(place) = self.keys[slot].text.get_mut(..text.len()) {
            place.copy_from_slice(text);
            self.keys[slot].length = text.len() as u8;
            self.keys[slot].identity = identity;
        }
        Ok(Key::Written)
    }

    /// Writes an atom that is a value as if it were a key, and takes the rest back.
    fn name(&mut self, atom: R::Term) -> Result<(), Refusal<R::Term>> {
        match self.draft.text.pop() {
            Some(before) => self.key(before, atom)?,
            None => self.new_key(atom)?,
        };
        self.draft.text.pop();
        Ok(())
    }

    fn new_key(&mut self, key: R::Term) -> Result<Key, Refusal<R::Term>> {
        match self.source.view(key) {
            View::Text(text) if text.len() > LONG => {
                self.check(text.len())?;
                return Ok(Key::Long);
            }
            View::Text(text) => self.string(key, text, true)?,
            View::Name => {
                self.draft.toll += TOLL;
                let name = self.source.name(key);
                self.string(key, name.as_bytes(), true)?;
            }
            View::Null => self.draft.text.extend_from_slice(b"\"nil\""),
            View::Bool(true) => self.draft.text.extend_from_slice(b"\"true\""),
            View::Bool(false) => self.draft.text.extend_from_slice(b"\"false\""),
            View::Int(value) => self.quoted(|text| put_integer(text, value)),
            View::Float(value) => self.quoted(|text| put_float(text, value)),
            View::Big(value) if time_of(&value) > BYTES_BETWEEN_LOOKS => {
                self.check(time_of(&value))?;
                return Ok(Key::Long);
            }
            View::Big(value) => self.big(key, &value, true)?,
            View::TooLong => return Ok(Key::Long),
            _ => return Err(Refusal::Foreign(key)),
        }
        self.draft.text.push(b':');
        Ok(Key::Written)
    }

    fn quoted(&mut self, put: impl FnOnce(&mut Vec<u8>)) {
        self.draft.text.push(b'"');
        put(&mut self.draft.text);
        self.draft.text.push(b'"');
    }

    #[inline]
    fn string(&mut self, term: R::Term, text: &[u8], is_key: bool) -> Result<(), Refusal<R::Term>> {
        self.check(text.len())?;
        if text.len() > LONG {
            self.begin_long(term, is_key);
            return Ok(());
        }
        put_string(&mut self.draft.text, text).map_err(|NotUtf8(at)| Refusal::NotUtf8(term, at))
    }

    /// The digits of an integer beyond 64 bits.
    fn big(&mut self, term: R::Term, value: &BigInt, is_key: bool) -> Result<(), Refusal<R::Term>> {
        let time = time_of(value);
        self.check(time)?;
        if time > BYTES_BETWEEN_LOOKS {
            self.begin_long(term, is_key);
            return Ok(());
        }
        let digits = value.to_string();
        match is_key {
            true => self.quoted(|text| text.extend_from_slice(digits.as_bytes())),
            false => self.draft.text.extend_from_slice(digits.as_bytes()),
        }
        Ok(())
    }

    #[cold]
    fn begin_long(&mut self, scalar: R::Term, is_key: bool) {
        self.stack.live.push(Open::Long {
            scalar,
            at: 0,
            is_key,
        });
    }

    /// Goes on with a long string or integer, which is on top of the stack: with its next part.
    #[cold]
    fn long(&mut self, scalar: R::Term, at: usize, is_key: bool) -> Result<(), Refusal<R::Term>> {
        match self.source.view(scalar) {
            View::Text(text) => {
                if at == 0 {
                    self.draft.text.push(b'"');
                }
                let end = part_end(text, at);
                let part = text.get(at..end).unwrap_or_default();
                put_chars(&mut self.draft.text, part)
                    .map_err(|NotUtf8(within)| Refusal::NotUtf8(scalar, at + within))?;
                if let (true, Some(Open::Long { at, .. })) =
                    (end < text.len(), self.stack.live.last_mut())
                {
                    *at = end;
                    return self.check(text.len() - end);
                }
                self.draft.text.push(b'"');
            }
            View::Big(value) => {
                // In one go: a slice takes a small one only.
                self.ask(time_of(&value).saturating_mul(BYTES_PER_UNIT))?;
                let digits = value.to_string();
                match is_key {
                    true => self.quoted(|text| text.extend_from_slice(digits.as_bytes())),
                    false => self.draft.text.extend_from_slice(digits.as_bytes()),
                }
            }
            View::TooLong => return Err(Refusal::Stopped(Stop::SliceOver)),
            _ => return Err(Refusal::Stopped(Stop::Abandoned)),
        }
        if is_key {
            self.draft.text.push(b':');
        }
        self.stack.live.pop();
        self.check(0)
    }

    /// Refuses what takes the text, or the time, `more` bytes beyond the limit.
    #[inline]
    fn check(&self, more: usize) -> Result<(), Refusal<R::Term>> {
        let spent = self.draft.text.len() + self.draft.toll;
        match spent.saturating_add(more) > self.limit {
            true => Err(Refusal::Exhausted),
            false => Ok(()),
        }
    }
}

/// Whether a key was written.
enum Key {
    Written,
    /// It is too long to be written at once.
    Long,
}

/// The time it takes to find the decimal digits grows nearly with the square of their number; in bytes of
/// text that take as long.
fn time_of(value: &BigInt) -> usize {
    let limbs = value.bits() as usize / 64;
    limbs.saturating_mul(limbs) / 4
}

/// Where the part of a long string ends that starts at `at`: not within a character, if it is UTF-8.
fn part_end(text: &[u8], at: usize) -> usize {
    let end = at.saturating_add(LONG).min(text.len());
    let goes_on = |at: &usize| matches!(text.get(*at), Some(0x80..=0xBF));
    // No character has more than three bytes after its first one.
    let start = (end.saturating_sub(3)..=end).rev().find(|at| !goes_on(at));
    start.unwrap_or(end)
}
