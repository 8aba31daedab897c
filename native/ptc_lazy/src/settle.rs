//! Builds the values of texts in a term that leaves the run. What has none of them stays the term that it is.

use crate::term::Term;
use crate::wrapper::Lazy;
use ptc_json::{Decoding, Extent, JsonLimits, ReadError, Reader, TermBuilder};
use ptc_term::heap::{Heap, Inside, Kind};
use ptc_term::job::Job;
use ptc_term::meter::Meter;
use ptc_term::rooted;
use ptc_term::roots::Roots;
use ptc_term::stop::Stop;
use ptc_term::suspend::{freeze, thaw, One};
use ptc_term::workspace::Workspace;

/// Number of items of a long list that are built in one step.
const BATCH: usize = 1_024;
/// Number of short values of a text that one builder reads, so that their equal keys are one term.
const ROWS: usize = 256;
/// Bytes of a string that are read per unit of fuel.
const BYTES_A_UNIT: usize = 64;
const BYTES_PER_WORD: usize = 8;
/// Fuel for an entry of a large map, which is a tree that is built in one call.
const MAP_ENTRY: usize = 32;

/// Terms that are being settled.
#[derive(Debug)]
pub struct Settle<T> {
    /// Terms that are not settled yet, the next one last.
    todo: Roots<T>,
    /// Terms that are settled.
    done: Roots<T>,
    /// The open lists, maps and tuples, innermost last.
    open: Vec<Open<T>>,
    /// The value of a text that is being decoded.
    decoding: Option<Node<T>>,
    /// The end of a list that is being built from its end.
    tail: Option<One<T>>,
}

rooted!(Settle { states: todo, done, open, decoding, tail; });

/// A list, a map or a tuple that is being settled.
#[derive(Debug)]
struct Open<T> {
    whole: T,
    /// The rest of a list.
    rest: T,
    shape: Opened,
    /// Number of settled terms before its own.
    start: usize,
    /// Number of its parts that are not settled.
    left: usize,
    changed: bool,
}

rooted!(Open { terms: whole, rest; plain: shape, start, left, changed });

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Opened {
    /// The tail is the last part, once all items are settled.
    List,
    Tail,
    Map,
    Tuple,
}

/// A value of a text, and the term that is built of it. That is built on the inner heap: all of its parts are terms of
/// that heap.
#[derive(Debug)]
struct Node<T> {
    value: T,
    decoding: Decoding<()>,
    /// The terms of `decoding`.
    parts: Vec<One<T>>,
}

rooted!(Node { terms: value; states: parts; plain: decoding });

impl<T> Node<T> {
    fn new(value: T) -> Self {
        Node {
            value,
            decoding: Decoding::new(JsonLimits::depth(usize::MAX)),
            parts: Vec::new(),
        }
    }
}

impl<T: Copy> Settle<T> {
    /// Settles these terms.
    pub fn new(terms: impl IntoIterator<Item = T>) -> Self {
        let mut todo = Roots::default();
        todo.extend(terms.into_iter().collect::<Vec<_>>().into_iter().rev());
        Settle {
            todo,
            done: Roots::default(),
            open: Vec::new(),
            decoding: None,
            tail: None,
        }
    }
}

impl<V: Copy> Settle<Term<V>> {
    /// Returns the last settled term and removes it.
    pub fn take_last<H: Heap<Term = V>>(&mut self, heap: &Lazy<H>) -> Option<Term<V>> {
        self.done.take_last(heap)
    }

    /// Continues until all terms are settled.
    pub fn run<H: Heap<Term = V>>(
        &mut self,
        heap: &mut Lazy<H>,
        meter: &mut Meter,
    ) -> Result<(), Stop> {
        loop {
            if self.decoding.is_some() {
                self.decode(heap, meter)?;
            }
            meter.consume_fuel(1, heap)?;
            if let Some(open) = self.open.last().filter(|open| open.left == 0) {
                match open.shape {
                    Opened::List => {
                        if !self.short_items(heap, meter)? {
                            self.next_item(heap);
                        }
                    }
                    _ => self.close(heap, meter)?,
                }
            } else if let Some(term) = self.todo.take_last(heap) {
                self.begin(term, heap, meter)?;
            } else {
                return Ok(());
            }
        }
    }

    /// Adds a settled term to what is open around it.
    fn settled(&mut self, term: Term<V>, changed: bool) {
        self.done.push(term);
        if let Some(open) = self.open.last_mut() {
            open.changed |= changed;
            open.left = open.left.saturating_sub(1);
        }
    }

    fn begin<H: Heap<Term = V>>(
        &mut self,
        term: Term<V>,
        heap: &mut Lazy<H>,
        meter: &mut Meter,
    ) -> Result<(), Stop> {
        let open = |shape, rest, left, start| Open {
            whole: term,
            rest,
            shape,
            start,
            left,
            changed: false,
        };
        let start = self.done.len();
        match (term, heap.kind(term)) {
            (Term::Node(place), Kind::Number | Kind::String) => {
                let bytes = heap
                    .source(place.text)
                    .map_or(0, |text| text.raw(place.at).len());
                let counted = meter.consume_fuel(bytes / BYTES_A_UNIT, heap);
                counted.inspect_err(|_| self.todo.push(term))?;
                meter.check_heap_limit(bytes / BYTES_PER_WORD, heap)?;
                let built = heap.scalar(place, usize::MAX);
                let built = built.map_or_else(|| heap.nil(), Term::Real);
                self.settled(built, true);
            }
            (Term::Node(place), _) if heap.is_large(place) => {
                self.decoding = Some(Node::new(term));
            }
            (_, Kind::List) if heap.is_empty_list(term) => {
                let empty = Term::Real(heap.empty_list);
                self.settled(empty, !matches!(term, Term::Real(_)));
            }
            (_, Kind::List) => {
                self.open.push(open(Opened::List, term, 0, start));
            }
            (_, Kind::Map) => {
                let size = heap.map_size(term).unwrap_or(0);
                meter
                    .consume_fuel(size, heap)
                    .inspect_err(|_| self.todo.push(term))?;
                meter.check_heap_limit(0, heap)?;
                let (keys, mut values): (Vec<_>, Vec<_>) = heap.entries(term).into_iter().unzip();
                let left = keys.len();
                values.reverse();
                let keys = keys.into_iter().map(|key| heap.shared_key(key));
                self.done.extend(keys);
                self.todo.extend(values);
                let mut open = open(Opened::Map, term, left, start);
                open.changed = !matches!(term, Term::Real(_));
                self.open.push(open);
            }
            (_, Kind::Other) => match heap.inside(term) {
                Inside::Elements(elements) => {
                    let left = elements.len();
                    self.todo.extend(elements.iter().rev().copied());
                    self.open.push(open(Opened::Tuple, term, left, start));
                }
                Inside::Nothing | Inside::Unknown => self.settled(term, false),
            },
            _ => self.settled(term, false),
        }
        Ok(())
    }

    /// Builds the next items of the innermost list from their texts, if they are short objects or lists of a text. Returns
    /// whether there was one.
    fn short_items<H: Heap<Term = V>>(
        &mut self,
        heap: &mut Lazy<H>,
        meter: &mut Meter,
    ) -> Result<bool, Stop> {
        let Some(open) = self.open.last_mut() else {
            return Ok(false);
        };
        let mut items = Vec::new();
        let mut rest = open.rest;
        while let Some((item, next)) = heap.uncons(rest).filter(|_| items.len() < ROWS) {
            let Some(text) = heap.short_text(item) else {
                break;
            };
            items.push((item, text, next));
            rest = next;
        }
        if items.is_empty() {
            return Ok(false);
        }
        open.changed = true;
        let (done, todo, decoding) = (&mut self.done, &mut open.rest, &mut self.decoding);
        heap.on_inner(meter, |inner, meter| {
            let mut builder = TermBuilder::new(Workspace::new(inner, meter));
            for (item, text, next) in items {
                *todo = next;
                let mut reader = Reader::new(0, Extent::Whole, JsonLimits::depth(usize::MAX));
                match reader.read(text, &mut builder) {
                    Ok(_) => {
                        done.push(Term::Real(builder.take()));
                        builder.check_heap_limit()?;
                        builder.count(text.len(), true)?;
                    }
                    // It has an integer that takes long.
                    Err(error) => {
                        open.left = 1;
                        *decoding = Some(Node::new(item));
                        return match error {
                            ReadError::Stop(stop) => Err(stop),
                            ReadError::Json(_) => Ok(()),
                        };
                    }
                }
            }
            Ok(())
        })?;
        Ok(true)
    }

    /// Goes on with the next item of the innermost list, or with its tail.
    fn next_item<H: Heap<Term = V>>(&mut self, heap: &Lazy<H>) {
        let Some(open) = self.open.last_mut() else {
            return;
        };
        open.left = 1;
        // From the first value of a text on, the cells are new.
        open.changed |= !matches!(open.rest, Term::Real(_));
        match heap.uncons(open.rest) {
            Some((item, rest)) => {
                open.rest = rest;
                self.todo.push(item);
            }
            None => {
                open.shape = Opened::Tail;
                // An empty list of a text is no tail that must be decoded.
                match heap.is_empty_list(open.rest) {
                    true => {
                        let empty = Term::Real(heap.empty_list);
                        self.settled(empty, false);
                    }
                    false => self.todo.push(open.rest),
                }
            }
        }
    }

    fn close<H: Heap<Term = V>>(
        &mut self,
        heap: &mut Lazy<H>,
        meter: &mut Meter,
    ) -> Result<(), Stop> {
        let Some(open) = self.open.last() else {
            return Ok(());
        };
        let (whole, shape, start, changed) = (open.whole, open.shape, open.start, open.changed);
        let made = match (changed, shape) {
            (false, _) => whole,
            (_, Opened::List | Opened::Tail) => self.list(start, heap, meter)?,
            (_, Opened::Map) => {
                let count = (self.done.len() - start) / 2;
                if count > BATCH {
                    meter.consume_fuel(MAP_ENTRY * count, heap)?;
                }
                let parts = &*self.done.since(start, heap);
                let (keys, values) = parts.split_at(count);
                heap.make_map(keys, values)
            }
            (_, Opened::Tuple) => {
                let parts = &*self.done.since(start, heap);
                heap.make_tuple(parts)
            }
        };
        self.tail = None;
        self.done.truncate(start, heap);
        self.open.pop();
        self.settled(made, changed);
        Ok(())
    }

    /// Builds a list of the settled terms from `start` on, of which the last one is its tail.
    fn list<H: Heap<Term = V>>(
        &mut self,
        start: usize,
        heap: &mut Lazy<H>,
        meter: &mut Meter,
    ) -> Result<Term<V>, Stop> {
        let mut tail = match self.tail {
            Some(One(tail)) => tail,
            None => self.done.pop(heap),
        };
        while self.done.len() > start {
            self.tail = Some(One(tail));
            meter.consume_fuel(BATCH, heap)?;
            meter.check_heap_limit(2 * BATCH, heap)?;
            let from = self.done.len().saturating_sub(BATCH).max(start);
            let items = &*self.done.since(from, heap);
            tail = heap.make_list_onto(items, tail);
            self.done.truncate(from, heap);
        }
        // Nothing is left to take off if this is suspended now.
        self.tail = Some(One(tail));
        Ok(tail)
    }

    fn decode<H: Heap<Term = V>>(
        &mut self,
        heap: &mut Lazy<H>,
        meter: &mut Meter,
    ) -> Result<(), Stop> {
        let Some(node) = self.decoding.take() else {
            return Ok(());
        };
        let text = match node.value {
            Term::Node(place) => heap.source(place.text).map(|source| source.raw(place.at)),
            _ => None,
        };
        let nil = heap.inner().nil();
        let real = |One(part)| match part {
            Term::Real(part) => part,
            Term::Node(_) | Term::Rest(_) => nil,
        };
        let mut parts = node.parts.into_iter().map(real);
        let thawed = thaw(node.decoding, heap.inner(), &mut parts);
        let mut decoding = thawed.ok_or(Stop::Abandoned)?;
        let made = heap.on_inner(meter, |inner, meter| {
            decoding.step(text.unwrap_or_default(), inner, meter)
        });
        match made {
            Ok(made) => {
                let made = made.unwrap_or(nil);
                self.settled(Term::Real(made), true);
                Ok(())
            }
            Err(stop) => {
                let mut parts = Vec::new();
                let decoding = freeze(decoding, heap.inner(), &mut parts);
                let parts = parts
                    .into_iter()
                    .map(|part| One(Term::Real(part)))
                    .collect();
                let value = node.value;
                self.decoding = Some(Node {
                    value,
                    decoding,
                    parts,
                });
                Err(stop)
            }
        }
    }
}
