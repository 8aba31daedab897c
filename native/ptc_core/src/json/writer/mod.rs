//! The writer: terms to JSON text, with an explicit stack and without looking at a term twice.
//!
//! * this file: the loop; [`key`], [`long`]: keys, and strings and integers that may be long
//! * [`put`]: scalars; [`readable`]: what is asked of terms
//! * [`draft`]: a text that was left in the middle

mod draft;
mod key;
mod long;
mod put;
mod readable;

use crate::stop::Stop;
pub use draft::Draft;
use draft::{Open, Stack, Thawed};
use key::{KeyText, KEYS};
use put::{put_float, put_integer};
pub use readable::{JsonView, Readable};

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

/// What a gap costs, and an atom that has to be asked for its characters.
const TOLL: usize = 16;
/// What a list or a map costs, empty or not.
const OPENED: usize = 16;

/// So often it is asked whether somebody still waits.
const BYTES_BETWEEN_LOOKS: usize = 16_384;

/// So many bytes are written in a unit of fuel.
pub const BYTES_PER_UNIT: usize = 4;

/// A map of more entries is asked for by itself, and what an entry costs then, in bytes of text: it may
/// have to be frozen, too.
const MANY: usize = 1024;
const BYTES_OF_ENTRY: usize = 48;
/// With so much open, a writer that can go on is left: to freeze it takes longer than to open it.
const OPEN_AT_ONCE: usize = 8_192;
/// The bytes of memory that a frozen term takes: a list cell.
const BYTES_OF_FROZEN: usize = 16;

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
            JsonView::Text(text) => self.string(term, text, false)?,
            JsonView::Int(value) => put_integer(&mut self.draft.text, value),
            JsonView::Float(value) => put_float(&mut self.draft.text, value),
            JsonView::Null => self.draft.text.extend_from_slice(b"null"),
            JsonView::Bool(true) => self.draft.text.extend_from_slice(b"true"),
            JsonView::Bool(false) => self.draft.text.extend_from_slice(b"false"),
            JsonView::Name => self.name(term)?,
            JsonView::Big(value) => self.big(term, &value, false)?,
            JsonView::List => {
                self.draft.opened += 1;
                self.draft.text.push(b'[');
                self.stack.live.push(Open::List {
                    whole: term,
                    rest: term,
                    first: true,
                });
            }
            JsonView::Map([], _) | JsonView::LargeMap(0) => {
                self.draft.text.extend_from_slice(b"{}")
            }
            JsonView::Map(keys, values) => {
                self.draft.opened += 1;
                self.stack.live.push(Open::Map {
                    map: term,
                    keys,
                    values,
                    at: 0,
                });
            }
            JsonView::LargeMap(size) => {
                self.check(size)?;
                self.stack.live.push(match size {
                    ..=MANY => self.opened(term),
                    _ => Open::Unopened(term),
                });
            }
            JsonView::Foreign => {
                self.draft.toll += TOLL;
                self.draft.gaps.push(self.draft.text.len());
                self.foreign.push(term);
            }
            JsonView::TooLong => return self.put_off(Open::Value(term)),
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
                    if let JsonView::LargeMap(size) = self.source.view(map) {
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
