//! Converts values to another form: with normalized keys, as a cache key, or without hidden keys.
//!
//! * this file: the walk; `close`: builds values from the results of their parts
//! * `names`: converts keys; `seen`: memo of the results of a long walk
//!
//! An unchanged value keeps its original term, so it keeps its shared parts. The walk keeps its frames on
//! an explicit stack, so the depth of a value causes no recursion.

mod close;
mod names;
mod seen;

use crate::values::{Class, Values};
use names::Names;
use ptc_term::meter::Meter;
use ptc_term::number::Number;
use ptc_term::stop::Stop;
use seen::Converted;

/// Fuel to read an entry of a large map.
const FUEL_A_LARGE: usize = 8;
/// Fuel to put an entry into a new large map.
const FUEL_OF_NEW: usize = 32;
/// Bytes of a key that are read for one unit of fuel.
const BYTES_A_UNIT: usize = 8;

/// A form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Keys are strings with underscores.
    Keys,
    /// Like `Keys`; in addition, tuples become lists, and whole floats become integers.
    CacheKey,
    /// Maps have no hidden keys.
    Public,
}

/// Why a value has no result.
#[derive(Debug)]
pub enum Unfinished<T> {
    /// The work was stopped.
    Stopped(Stop),
    /// An improper list where it must be proper, with its tail.
    Improper(T),
}

impl<T> From<Stop> for Unfinished<T> {
    fn from(stop: Stop) -> Self {
        Unfinished::Stopped(stop)
    }
}

/// Returns the value in another form. It cannot be suspended: in a quantum it runs to its end or to a limit.
pub fn normalize<H: Values>(
    heap: &mut H,
    term: H::Term,
    form: Form,
    meter: &mut Meter,
) -> Result<H::Term, Unfinished<H::Term>> {
    meter.begin_whole();
    let mut walk = Normalizing {
        heap,
        meter,
        form,
        names: Names::new(),
        seen: Converted::default(),
        open: Vec::with_capacity(16),
        results: Vec::with_capacity(64),
        entries: Vec::new(),
        keys: Vec::new(),
    };
    walk.run(term)
}

/// A value whose parts are being converted.
struct OpenTerm<T> {
    term: T,
    parts: Parts<T>,
    /// Index of its first result in `results`.
    start: usize,
    /// A part differs from its result.
    changed: bool,
    /// A part has parts itself.
    nested: bool,
}

enum Parts<T> {
    /// The remaining cells.
    List(T),
    /// The tail of an improper list is its last part.
    Tail,
    Tuple,
    /// A map that is read in place.
    Map,
    /// The keys and the values of another map.
    LargeMap(Vec<T>, Vec<T>),
}

/// The next step of the walk.
enum Next<T> {
    Look(T),
    /// The innermost value is complete. The term is the result of the list's tail, if that is known.
    Close(Option<T>),
    End,
}

struct Normalizing<'w, H: Values> {
    heap: &'w mut H,
    meter: &'w mut Meter,
    form: Form,
    names: Names<H::Term>,
    seen: Converted<H::Term>,
    open: Vec<OpenTerm<H::Term>>,
    results: Vec<H::Term>,
    /// Buffers: the keys and the values of a map that is read in place; the new keys of a map.
    entries: Vec<H::Term>,
    keys: Vec<H::Term>,
}

impl<H: Values> Normalizing<'_, H> {
    fn run(&mut self, term: H::Term) -> Result<H::Term, Unfinished<H::Term>> {
        self.look(term)?;
        loop {
            match self.next()? {
                Next::Look(term) => self.look(term)?,
                Next::Close(tail) => self.close(tail)?,
                Next::End => return Ok(self.results[0]),
            }
        }
    }

    /// Begins a value: pushes its result, or opens it.
    #[inline]
    fn look(&mut self, term: H::Term) -> Result<(), Unfinished<H::Term>> {
        let class = self.heap.class(term);
        let has_parts = match class {
            Class::List | Class::Map => true,
            Class::Other => self.form != Form::Keys && self.heap.tuple(term).is_some(),
            _ => false,
        };
        if !has_parts {
            let result = match (class, self.form) {
                (Class::Float, Form::CacheKey) => self.whole(term).unwrap_or(term),
                _ => term,
            };
            self.done(term, result);
            return Ok(());
        }
        if let Some(outer) = self.open.last_mut() {
            outer.nested = true;
        }
        if let Some(known) = self.seen.get(|| self.heap.identity(term)) {
            self.done(term, known);
            return Ok(());
        }
        let parts = match class {
            Class::List => Parts::List(term),
            Class::Map if self.heap.is_struct(term) => {
                // A struct stays unchanged.
                self.done(term, term);
                return Ok(());
            }
            Class::Map => self.entries(term)?,
            _ => {
                self.consume_fuel(1 + self.heap.arity(term).unwrap_or(0))?;
                Parts::Tuple
            }
        };
        self.open.push(OpenTerm {
            term,
            parts,
            start: self.results.len(),
            changed: false,
            nested: false,
        });
        Ok(())
    }

    fn entries(&mut self, map: H::Term) -> Result<Parts<H::Term>, Unfinished<H::Term>> {
        let size = self.heap.map_size(map).unwrap_or(0);
        if self.heap.flat(map).is_some() {
            self.consume_fuel(1 + size)?;
            return Ok(Parts::Map);
        }
        self.consume_fuel(1 + FUEL_A_LARGE * size)?;
        let (keys, values) = self.heap.entries(map).into_iter().unzip();
        Ok(Parts::LargeMap(keys, values))
    }

    /// The integer that is equal to a whole float.
    fn whole(&mut self, float: H::Term) -> Option<H::Term> {
        let number = Number::of_whole(self.heap.float(float)?)?;
        self.heap.make_number(number)
    }

    /// The next part of the innermost value. Parts that stay as they are get their results at once.
    #[inline]
    fn next(&mut self) -> Result<Next<H::Term>, Unfinished<H::Term>> {
        let heap = &*self.heap;
        let Some(open) = self.open.last_mut() else {
            return Ok(Next::End);
        };
        let at = self.results.len() - open.start;
        let (keys, values): (&[H::Term], &[H::Term]) = match &mut open.parts {
            Parts::List(rest) => {
                self.meter.consume_fuel(1, heap)?;
                self.seen.count(1);
                if let Some(tail) = self.seen.tail(|| heap.identity(*rest), at) {
                    return Ok(Next::Close(Some(tail)));
                }
                if let Some((head, tail)) = heap.uncons(*rest) {
                    *rest = tail;
                    return Ok(Next::Look(head));
                }
                if heap.is_empty_list(*rest) {
                    return Ok(Next::Close(None));
                }
                let tail = *rest;
                if self.form != Form::Public {
                    return Err(Unfinished::Improper(tail));
                }
                open.parts = Parts::Tail;
                return Ok(Next::Look(tail));
            }
            Parts::Tail => return Ok(Next::Close(self.results.pop())),
            Parts::Tuple => (&[], heap.tuple(open.term).unwrap_or_default()),
            Parts::Map => heap.flat(open.term).unwrap_or_default(),
            Parts::LargeMap(keys, values) => (keys, values),
        };
        for (at, value) in values.iter().enumerate().skip(at) {
            let hidden = self.form == Form::Public
                && keys
                    .get(at)
                    .is_some_and(|key| self.names.is_hidden(heap, *key));
            // Hidden values are not converted.
            open.changed |= hidden;
            match heap.class(*value) {
                Class::Atom | Class::Bitstring | Class::Integer => {}
                Class::Float if self.form != Form::CacheKey => {}
                _ if hidden => {}
                _ => return Ok(Next::Look(*value)),
            }
            self.results.push(*value);
        }
        Ok(Next::Close(None))
    }

    /// Pushes the result of a value.
    #[inline]
    fn done(&mut self, term: H::Term, result: H::Term) {
        if let Some(open) = self.open.last_mut() {
            open.changed |= !self.heap.same(term, result);
        }
        self.results.push(result);
    }

    /// Consumes fuel for work before it is done.
    #[inline]
    fn consume_fuel(&mut self, units: usize) -> Result<(), Unfinished<H::Term>> {
        self.seen.count(units);
        Ok(self.meter.consume_fuel(units, self.heap)?)
    }
}
