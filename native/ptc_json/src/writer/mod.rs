//! JSON writer: terms to text with an explicit stack; it reads each term once and can be suspended.
//!
//! * this file: the loop; [`key`], [`long`]: keys, and strings and integers of any length
//! * [`put`]: scalars; [`readable`]: the interface to terms
//! * [`draft`]: the state of a text, which can be suspended

mod draft;
mod key;
mod long;
mod put;
mod readable;

pub use draft::Draft;
use draft::OpenContainer;
use key::{KeyText, KEYS, NO_KEYS};
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
    let mut writer = Writer::new(source, &mut draft, limit, consume_fuel);
    writer.open_at_once = usize::MAX;
    let written = writer.begin(root).and_then(|()| writer.resume());
    *out = std::mem::take(&mut draft.text);
    written.map(|()| draft.gaps(source.heap()))
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
/// text, because its terms are stored, too.
const MANY: usize = 1024;
const BYTES_OF_ENTRY: usize = 48;
/// Maximum number of containers that are open in addition to those at the start of a call: freezing takes longer
/// than opening.
const OPEN_AT_ONCE: usize = 8_192;

/// Writes to a draft during one call.
pub struct Writer<'s, 'o, 'c, R: Readable> {
    source: &'s R,
    limit: usize,
    draft: &'o mut Draft<R::Term>,
    /// Maximum number of open containers before it suspends.
    open_at_once: usize,
    keys: [KeyText; KEYS],
    consume_fuel: &'o mut ConsumeFuel<'c>,
}

impl<'s, 'o, 'c, R: Readable> Writer<'s, 'o, 'c, R> {
    /// Creates a writer that continues a draft. `limit` is in bytes of text.
    pub fn new(
        source: &'s R,
        draft: &'o mut Draft<R::Term>,
        limit: usize,
        consume_fuel: &'o mut ConsumeFuel<'c>,
    ) -> Self {
        let open_at_once = draft.open.len() + OPEN_AT_ONCE;
        Writer {
            source,
            limit,
            draft,
            open_at_once,
            keys: NO_KEYS,
            consume_fuel,
        }
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
                self.draft.push(OpenContainer::List { first: true }, term);
                self.draft.terms.push(term);
            }
            JsonView::Map([], _) | JsonView::LargeMap(0) => {
                self.draft.text.extend_from_slice(b"{}")
            }
            JsonView::Map(..) => {
                self.draft.opened += 1;
                self.draft.push(OpenContainer::Map { at: 0 }, term);
            }
            JsonView::LargeMap(size) => {
                self.check(size)?;
                match size {
                    ..=MANY => self.open_large(term),
                    _ => self.draft.push(OpenContainer::Unopened, term),
                }
            }
            JsonView::Foreign => {
                self.draft.toll += TOLL;
                self.draft.gaps.push(self.draft.text.len());
                self.draft.foreign.push(term);
            }
            // It takes longer to read than this slice allows.
            JsonView::TooLong => {
                self.draft.push(OpenContainer::Value, term);
                return Err(Refusal::Stopped(Stop::SliceOver));
            }
        }
        self.check(0)
    }

    fn open_large(&mut self, map: R::Term) {
        let entries = self.source.entries(map);
        let terms = entries.iter().rev().flat_map(|(key, value)| [*value, *key]);
        self.draft.terms.extend(terms);
        let left = entries.len();
        self.draft
            .open
            .push(OpenContainer::Entries { left, first: true });
    }

    /// Writes until no container is open. If it stops because its slice or quantum is over, the draft can be
    /// suspended.
    pub fn resume(&mut self) -> Result<(), Refusal<R::Term>> {
        let written = self.run();
        let over = matches!(written, Err(Refusal::Stopped(Stop::SliceOver)));
        if let (true, Some(OpenContainer::Long { .. })) = (over, self.draft.open.last()) {
            let scalar = self.draft.terms.last_mut(self.source.heap());
            if let Some(scalar) = scalar {
                *scalar = self.source.to_keep(*scalar);
            }
        }
        written
    }

    fn run(&mut self) -> Result<(), Refusal<R::Term>> {
        let heap = self.source.heap();
        loop {
            if self.is_due() {
                self.ask(0)?;
            }
            let Some(open) = self.draft.open.last().copied() else {
                return Ok(());
            };
            match open {
                OpenContainer::List { first } => self.elements(first)?,
                OpenContainer::Map { at } => self.entries(at)?,
                OpenContainer::Entries { left: 0, .. } => {
                    self.draft.text.push(b'}');
                    self.draft.open.pop();
                }
                OpenContainer::Entries { left, first } => {
                    let lead = if first { b'{' } else { b',' };
                    let (left, first) = (left - 1, false);
                    self.draft.set(OpenContainer::Entries { left, first });
                    let key = self.draft.terms.pop(heap);
                    let value = self.draft.terms.pop(heap);
                    self.entry(lead, key, value)?;
                }
                OpenContainer::Unopened => {
                    let map = self.last()?;
                    if let JsonView::LargeMap(size) = self.source.view(map) {
                        self.ask(size.saturating_mul(BYTES_OF_ENTRY))?;
                    }
                    self.draft.pop(heap);
                    self.open_large(map);
                }
                OpenContainer::Long { at, is_key } => {
                    let scalar = self.last()?;
                    self.long(scalar, at, is_key)?;
                }
                OpenContainer::Value => {
                    let value = self.draft.pop(heap);
                    self.value(value)?;
                }
            }
        }
    }

    /// Writes the elements of the innermost list, until one has parts or the limits are due.
    fn elements(&mut self, first: bool) -> Result<(), Refusal<R::Term>> {
        let (source, depth) = (self.source, self.draft.open.len());
        let heap = source.heap();
        let (mut rest, mut first) = (self.last()?, first);
        while let Some((head, tail)) = source.uncons(rest) {
            rest = tail;
            if let Some(rest) = self.draft.terms.last_mut(heap) {
                *rest = tail;
            }
            match std::mem::take(&mut first) {
                true => self.draft.set(OpenContainer::List { first }),
                false => self.draft.text.push(b','),
            }
            self.value(head)?;
            if self.draft.open.len() != depth || self.is_due() {
                return Ok(());
            }
        }
        self.draft.pop(heap);
        let whole = self.draft.terms.pop(heap);
        if !source.is_empty_list(rest) {
            return Err(Refusal::Foreign(whole));
        }
        self.draft.text.push(b']');
        Ok(())
    }

    /// Writes the entries of the innermost map, which is read in place, from number `at` on.
    fn entries(&mut self, at: usize) -> Result<(), Refusal<R::Term>> {
        let (source, depth) = (self.source, self.draft.open.len());
        let (keys, values) = source.flat(self.last()?);
        let mut at = at;
        while let (Some(key), Some(value)) = (keys.get(at), values.get(at)) {
            let lead = if at == 0 { b'{' } else { b',' };
            at += 1;
            let written = self.entry(lead, *key, *value);
            if written.is_err() || self.draft.open.len() != depth || self.is_due() {
                self.draft.open[depth - 1] = OpenContainer::Map { at };
                return written;
            }
        }
        self.draft.pop(source.heap());
        self.draft.text.push(b'}');
        Ok(())
    }

    /// Returns the last term of the innermost container or value. It is there, unless these are the terms of another
    /// text.
    #[inline]
    fn last(&mut self) -> Result<R::Term, Refusal<R::Term>> {
        let last = self.draft.terms.last_mut(self.source.heap());
        last.copied().ok_or(Refusal::Stopped(Stop::Abandoned))
    }

    /// Returns whether the limits must be checked.
    #[inline]
    fn is_due(&self) -> bool {
        self.spent() - self.draft.asked > BYTES_BETWEEN_LOOKS
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
        let (open, terms) = (self.draft.open.len(), self.draft.terms.len());
        let stack = open * size_of::<OpenContainer>() + terms * size_of::<R::Term>();
        let held = self.draft.text.capacity() + stack;
        (self.consume_fuel)(since.saturating_add(more), held).map_err(Refusal::Stopped)?;
        match open > self.open_at_once {
            true => Err(Refusal::Stopped(Stop::SliceOver)),
            false => Ok(()),
        }
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
