//! JSON writer: terms to text with an explicit stack; it reads each term once and can be suspended.
//!
//! * this file: the loop; [`key`], [`long`]: keys, and strings and integers of any length
//! * [`put`]: scalars; [`readable`]: the interface to terms
//! * [`draft`]: the state of a suspended text

mod draft;
mod key;
mod long;
mod put;
mod readable;

pub use draft::Draft;
use draft::{OpenContainer, Stack, Thawed};
use key::{KeyText, KEYS};
use ptc_term::stop::Stop;
pub use put::{put_float, put_integer, put_string, NotUtf8};
pub use readable::{JsonView, OnHeap, Readable};

/// Why the text was not written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal<T> {
    /// A term without a JSON form: an invalid map key (no string, atom or number), or an improper list.
    Foreign(T),
    /// A string, and the offset in it of the first invalid byte.
    NotUtf8(T, usize),
    /// The text would exceed the limit, or take as long as a text that does.
    Exhausted,
    /// Another limit, or no process waits for the result.
    Stopped(Stop),
}

/// The writer calls this before it continues: with the bytes written since the last call, or the bytes
/// that the next work is equal to, and the bytes it holds.
pub type ConsumeFuel<'c> = dyn FnMut(usize, usize) -> Result<(), Stop> + 'c;

/// An offset in the text, and the foreign term whose text belongs there.
pub type Gap<T> = (usize, T);

/// Writes `root` to `out`, which it empties first, and returns the gaps, in order. `limit` is in bytes
/// of text; the write fails as soon as it is exceeded. It cannot be suspended: if it is stopped, its
/// work is lost.
pub fn write<R: Readable>(
    source: &R,
    root: R::Term,
    limit: usize,
    out: &mut Vec<u8>,
    consume_fuel: &mut ConsumeFuel,
) -> Result<Vec<Gap<R::Term>>, Refusal<R::Term>> {
    let mut draft = Draft::new(std::mem::take(out));
    let mut writer = Writer::new(source, &mut draft, None, limit, consume_fuel);
    writer.open_at_once = usize::MAX;
    let written = writer.begin(root).and_then(|()| writer.resume());
    let (_, foreign) = writer.freeze();
    *out = draft.text;
    written.map(|()| draft.gaps.into_iter().zip(foreign).collect())
}

/// Cost of a gap, and of an atom whose characters must be fetched.
const TOLL: usize = 16;
/// Cost of a list or a map, empty or not.
const OPENED: usize = 16;

/// Number of bytes between two checks of the limits.
const BYTES_BETWEEN_LOOKS: usize = 16_384;

/// Bytes that are written per unit of fuel.
pub const BYTES_PER_UNIT: usize = 4;

/// The limits are checked separately for a map of more entries; an entry then costs this many bytes of
/// text, because it may have to be frozen, too.
const MANY: usize = 1024;
const BYTES_OF_ENTRY: usize = 48;
/// With more open containers, a resumable writer is suspended: freezing takes longer than opening.
const OPEN_AT_ONCE: usize = 8_192;
/// Bytes of memory of a frozen term: a list cell.
const BYTES_OF_FROZEN: usize = 16;

/// Writes to a draft during one call.
pub struct Writer<'s, 'o, 'c, R: Readable> {
    source: &'s R,
    limit: usize,
    draft: &'o mut Draft,
    stack: Stack<'s, R::Term>,
    /// Maximum number of open containers before it suspends.
    open_at_once: usize,
    /// The terms of the new gaps.
    foreign: Vec<R::Term>,
    keys: [KeyText; KEYS],
    consume_fuel: &'o mut ConsumeFuel<'c>,
}

impl<'s, 'o, 'c, R: Readable> Writer<'s, 'o, 'c, R> {
    /// Creates a writer that continues a draft; `frozen` has the frozen terms as a list, last one
    /// first. `limit` is in bytes of text.
    pub fn new(
        source: &'s R,
        draft: &'o mut Draft,
        frozen: Option<R::Term>,
        limit: usize,
        consume_fuel: &'o mut ConsumeFuel<'c>,
    ) -> Self {
        Writer {
            source,
            limit,
            draft,
            stack: Stack::new(frozen),
            open_at_once: OPEN_AT_ONCE,
            foreign: Vec::new(),
            keys: [KeyText::default(); KEYS],
            consume_fuel,
        }
    }

    /// Freezes the writer. Returns the terms to put onto those of [`Writer::frozen`], and the foreign
    /// terms of the new gaps, both in order.
    pub fn freeze(self) -> (Vec<R::Term>, Vec<R::Term>) {
        (self.stack.freeze(self.source, self.draft), self.foreign)
    }

    /// Returns the terms that were frozen before and not thawed.
    pub fn frozen(&self) -> Option<R::Term> {
        self.stack.frozen
    }

    /// Begins with a term; [`Writer::resume`] writes it.
    pub fn begin(&mut self, root: R::Term) -> Result<(), Refusal<R::Term>> {
        self.value(root)
    }

    /// Writes a scalar, or pushes a container for [`Writer::resume`]: a map's opening bracket is written
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
                self.stack.live.push(OpenContainer::List {
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
                self.stack.live.push(OpenContainer::Map {
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
                    _ => OpenContainer::Unopened(term),
                });
            }
            JsonView::Foreign => {
                self.draft.toll += TOLL;
                self.draft.gaps.push(self.draft.text.len());
                self.foreign.push(term);
            }
            JsonView::TooLong => return self.put_off(OpenContainer::Value(term)),
        }
        self.check(0)
    }

    /// Suspends before a term that takes longer to read than this slice allows.
    #[cold]
    fn put_off(&mut self, open: OpenContainer<'s, R::Term>) -> Result<(), Refusal<R::Term>> {
        self.stack.live.push(open);
        Err(Refusal::Stopped(Stop::SliceOver))
    }

    fn opened(&self, map: R::Term) -> OpenContainer<'s, R::Term> {
        OpenContainer::LargeMap {
            entries: self.source.entries(map).into_iter(),
            first: true,
        }
    }

    /// Writes until no container is open. If it stops because its slice or quantum is over, it can be
    /// frozen.
    pub fn resume(&mut self) -> Result<(), Refusal<R::Term>> {
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
                OpenContainer::List { whole, rest, first } => match self.source.uncons(*rest) {
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
                OpenContainer::Map {
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
                OpenContainer::LargeMap { entries, first } => match entries.next() {
                    Some((key, value)) => {
                        let lead = if std::mem::take(first) { b'{' } else { b',' };
                        self.entry(lead, key, value)?;
                    }
                    None => self.close(b'}'),
                },
                OpenContainer::Frozen { left: 0, .. } => self.close(b'}'),
                OpenContainer::Frozen { left, first } => {
                    *left -= 1;
                    let lead = if std::mem::take(first) { b'{' } else { b',' };
                    let mut pop = || self.stack.pop(self.source, self.draft);
                    match (pop(), pop()) {
                        (Some(key), Some(value)) => self.entry(lead, key, value)?,
                        _ => return Err(Refusal::Stopped(Stop::Abandoned)),
                    }
                }
                OpenContainer::Unopened(map) => {
                    let map = *map;
                    if let JsonView::LargeMap(size) = self.source.view(map) {
                        self.ask(size.saturating_mul(BYTES_OF_ENTRY))?;
                    }
                    self.stack.live.pop();
                    self.stack.live.push(self.opened(map));
                }
                OpenContainer::Long { scalar, at, is_key } => {
                    let (scalar, at, is_key) = (*scalar, *at, *is_key);
                    self.long(scalar, at, is_key)?;
                }
                OpenContainer::Value(value) => {
                    let value = *value;
                    self.stack.live.pop();
                    self.value(value)?;
                }
            }
        }
    }

    /// Returns the total cost so far, in bytes of text that take as long.
    fn spent(&self) -> usize {
        self.draft.text.len() + self.draft.toll + OPENED * self.draft.opened
    }

    /// Checks the limits, with the work since the last check and `more`.
    #[cold]
    fn ask(&mut self, more: usize) -> Result<(), Refusal<R::Term>> {
        let spent = self.spent();
        let since = spent - self.draft.asked;
        self.draft.asked = spent;
        let open = self.stack.live.len() * size_of::<OpenContainer<R::Term>>();
        let held = self.draft.text.capacity() + open + self.draft.frozen * BYTES_OF_FROZEN;
        (self.consume_fuel)(since.saturating_add(more), held).map_err(Refusal::Stopped)?;
        match self.stack.live.len() > self.open_at_once {
            true => Err(Refusal::Stopped(Stop::SliceOver)),
            false => Ok(()),
        }
    }

    fn close(&mut self, bracket: u8) {
        self.draft.text.push(bracket);
        self.stack.live.pop();
    }

    /// Checks that `more` bytes, of text or of work, do not exceed the limit.
    #[inline]
    fn check(&self, more: usize) -> Result<(), Refusal<R::Term>> {
        let spent = self.draft.text.len() + self.draft.toll;
        match spent.saturating_add(more) > self.limit {
            true => Err(Refusal::Exhausted),
            false => Ok(()),
        }
    }
}
