//! Types of values: of samples, and of constants that the program's table does not contain.
//!
//! The values at one place are read together: the items of a list, and what its objects have at a key. So keys that some
//! rows do not have are optional, and values of several kinds become a union. The places are one flat table, and what has not
//! been read yet is a stack, so nothing recurses over the values, and the work can be suspended after each of them.
//!
//! The first rows of each list are read before the others, so that a long list does not take the whole budget.

use super::places::{Places, Seen};
use super::ty::{TyId, Types};
use super::type_words::literal;
use ptc_term::heap::Heap;
use ptc_term::meter::Meter;
use ptc_term::parts::all_entries;
use ptc_term::rooted;
use ptc_term::roots::Roots;
use ptc_term::stop::Stop;

/// How much of a value is read.
#[derive(Debug, Clone, Copy)]
pub struct Budget {
    /// Maximum number of items of a list.
    pub rows: usize,
    /// Maximum number of values. What is beyond it counts as rows that are not read.
    pub values: usize,
    /// Whether a place with one value has that value as its type.
    pub literals: bool,
}

/// A list or an object that is read next.
#[derive(Debug, Clone, Copy)]
struct Unread {
    place: u32,
    /// How many items of the list have been read; `None` for an object.
    rows: Option<u32>,
    /// Whether the first rows of other lists were read before its others.
    waited: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum SampleStage {
    Read,
    /// What is left counts as not read.
    Skip,
    Type,
}

/// The type of a value that is being found.
#[derive(Debug)]
pub struct Sampling<T> {
    next: Roots<T>,
    /// The rests of lists whose first rows were read.
    later: Roots<T>,
    state: SamplingState,
}

rooted!(Sampling { states: next, later; plain: state });

#[derive(Debug)]
struct SamplingState {
    stage: SampleStage,
    budget: Budget,
    places: Places,
    next: Vec<Unread>,
    later: Vec<Unread>,
}

/// Number of rows of a list that are read before those of other lists.
const FIRST_ROWS: u32 = 16;
/// Maximum number of items of a list that are read in one step.
const ITEMS: u32 = 32;
/// Bytes of a name that are read for one unit of fuel.
const BYTES_A_UNIT: usize = 16;

impl<T: Copy> Sampling<T> {
    /// Begins with a value.
    pub fn new<H: Heap<Term = T>>(value: T, budget: Budget, heap: &H) -> Self {
        let mut sampling = Sampling {
            next: Roots::default(),
            later: Roots::default(),
            state: SamplingState {
                stage: SampleStage::Read,
                budget,
                places: Places::default(),
                next: Vec::new(),
                later: Vec::new(),
            },
        };
        sampling.note(value, 0, heap);
        sampling
    }

    /// Continues until the type is known.
    pub fn step<H: Heap<Term = T>>(
        &mut self,
        types: &mut Types,
        heap: &H,
        meter: &mut Meter,
    ) -> Result<TyId, Stop> {
        while self.state.stage == SampleStage::Read {
            let cost = match self.pop(heap) {
                None => self.next_stage(SampleStage::Skip),
                Some((value, unread)) if self.state.budget.values == 0 => {
                    self.push(value, unread);
                    self.next_stage(SampleStage::Skip)
                }
                Some((value, unread)) => match unread.rows {
                    Some(rows) => self.items(value, unread, rows, types, heap),
                    None => self.object(value, unread.place, types, heap),
                },
            };
            meter.check_heap_limit(types.words() + self.state.places.words(), heap)?;
            meter.consume_fuel(cost, heap)?;
        }
        while self.state.stage == SampleStage::Skip {
            match self.pop(heap) {
                None => {
                    self.state.places.spread_cuts();
                    self.next_stage(SampleStage::Type);
                }
                Some((_, unread)) => self.state.places.skip(unread.place, unread.rows.is_some()),
            }
            meter.consume_fuel(1, heap)?;
        }
        loop {
            let (done, cost) = self.state.places.make(types);
            if let Some(ty) = done {
                return Ok(ty);
            }
            meter.check_heap_limit(types.words() + self.state.places.words(), heap)?;
            meter.consume_fuel(cost, heap)?;
        }
    }

    fn next_stage(&mut self, stage: SampleStage) -> usize {
        self.state.stage = stage;
        1
    }

    fn push(&mut self, value: T, unread: Unread) {
        self.next.push(value);
        self.state.next.push(unread);
    }

    fn pop<H: Heap<Term = T>>(&mut self, heap: &H) -> Option<(T, Unread)> {
        if let Some(unread) = self.state.next.pop() {
            return Some((self.next.pop(heap), unread));
        }
        let unread = self.state.later.pop()?;
        let waited = true;
        Some((self.later.pop(heap), Unread { waited, ..unread }))
    }

    /// Notes a value. One that has parts is read later; then the answer is yes.
    fn note<H: Heap<Term = T>>(&mut self, value: T, at: u32, heap: &H) -> bool {
        let budget = &mut self.state.budget;
        budget.values = budget.values.saturating_sub(1);
        let (place, rows) = match self.state.places.note(value, at, heap) {
            Seen::Whole => return false,
            Seen::Object => (at, None),
            Seen::Items(items) => (items, Some(0)),
        };
        let waited = false;
        self.push(
            value,
            Unread {
                place,
                rows,
                waited,
            },
        );
        true
    }

    /// Notes an item of a list or the value of a key.
    fn note_part<H: Heap<Term = T>>(
        &mut self,
        value: T,
        at: u32,
        types: &mut Types,
        heap: &H,
    ) -> bool {
        if self.state.budget.literals {
            self.state.places.is(at, literal(value, types, heap));
        }
        self.note(value, at, heap)
    }

    /// Reads some items of a list; returns the fuel.
    fn items<H: Heap<Term = T>>(
        &mut self,
        list: T,
        unread: Unread,
        rows: u32,
        types: &mut Types,
        heap: &H,
    ) -> usize {
        let (mut rest, mut read) = (list, rows);
        while let Some((item, next)) = heap.uncons(rest) {
            let left = |read| Unread {
                rows: Some(read),
                ..unread
            };
            if read as usize >= self.state.budget.rows {
                self.state.places.cut(unread.place);
                break;
            }
            if read >= FIRST_ROWS && !unread.waited {
                self.later.push(rest);
                self.state.later.push(left(read));
                break;
            }
            if read - rows == ITEMS {
                self.push(rest, left(read));
                break;
            }
            (rest, read) = (next, read + 1);
            if self.note_part(item, unread.place, types, heap) {
                // What the item has is read before the next one.
                let last = (self.next.pop(heap), self.state.next.pop());
                self.push(rest, left(read));
                if let (item, Some(unread)) = last {
                    self.push(item, unread);
                }
                break;
            }
        }
        2 + 2 * (read - rows) as usize
    }

    /// Reads the keys of an object, and their values as far as they have no parts; returns the fuel.
    fn object<H: Heap<Term = T>>(&mut self, map: T, at: u32, types: &mut Types, heap: &H) -> usize {
        let size = heap.map_size(map).unwrap_or(0);
        let first = self.next.len();
        if !self.state.places.begin_object(at, size) {
            return 2;
        }
        let (mut bytes, mut next) = (0, 0);
        let mut read = |sampling: &mut Self, key, value| {
            let found = sampling.state.places.key(at, &mut next, key, types, heap);
            let Some((place, length)) = found else {
                return false;
            };
            bytes += length;
            sampling.note_part(value, place, types, heap);
            true
        };
        let is_record = all_entries(heap, map, |key, value| read(self, key, value));
        if !is_record {
            self.state.places.is_no_record(at);
            self.next.truncate(first, heap);
            self.state.next.truncate(first);
        }
        4 + 3 * size + bytes / BYTES_A_UNIT
    }
}
