//! Converts values to another form: with normalized keys, as a cache key, or without hidden keys.
//!
//! * this file: the walk; [`forms`]: the forms; [`close`]: builds values from the results of their parts
//! * [`names`]: converts keys; [`seen`]: memo of the results of a long walk
//!
//! An unchanged value keeps its original term, so it keeps its shared parts. The walk keeps its frames on
//! an explicit stack, so the depth of a value causes no recursion.

mod close;
mod forms;
mod names;
mod seen;

use crate::atoms;
use crate::heap::Beam;
use crate::map_view::{view, Flat, MapView};
use crate::raw::{Raw, TermKind};
use crate::schedule::{nif_pair, settle, whole, Pace};
use forms::Form;
use names::Names;
use ptc_core::fault::Halt;
use ptc_core::meter::{Limits, Meter};
use rustler::{Atom, Encoder, Env, NifResult, Term};
use seen::Converted;

/// Fuel to read an entry of a large map.
const FUEL_A_LARGE: usize = 8;
/// Fuel to put an entry into a new large map.
const FUEL_OF_NEW: usize = 32;
/// Bytes of a key that are read for one unit of fuel.
const BYTES_A_UNIT: usize = 8;

/// Why a walk ends early.
enum Unfinished<'a> {
    /// It is too long for a normal scheduler, or the caller has ended.
    Busy,
    /// An improper list, with its tail.
    Improper(Raw<'a>),
}

impl<'a> From<Halt<Raw<'a>>> for Unfinished<'a> {
    fn from(_: Halt<Raw<'a>>) -> Self {
        Unfinished::Busy
    }
}

/// A value whose parts are being converted.
struct OpenTerm<'a> {
    term: Raw<'a>,
    parts: Parts<'a>,
    /// Index of its first result in `results`.
    start: usize,
    /// A part differs from its result.
    changed: bool,
    /// A part has parts itself.
    nested: bool,
}

enum Parts<'a> {
    /// The remaining cells.
    List(Raw<'a>),
    /// The tail of an improper list is its last part.
    Tail,
    Tuple(&'a [Raw<'a>]),
    /// Keys and values of a small map, in place.
    Map(&'a [Raw<'a>], &'a [Raw<'a>]),
    LargeMap(Vec<Raw<'a>>, Vec<Raw<'a>>),
}

/// The next step of the walk.
enum Next<'a> {
    Look(Raw<'a>),
    /// The part has its result already.
    Skip,
    /// The innermost value is complete. The term is the result of the list's tail, if that is known.
    Close(Option<Raw<'a>>),
    End,
}

struct Walk<'a> {
    heap: Beam<'a>,
    meter: Meter,
    form: Form,
    names: Names<'a>,
    seen: Converted<'a>,
    struct_key: Raw<'a>,
    open: Vec<OpenTerm<'a>>,
    results: Vec<Raw<'a>>,
    /// Buffer for the keys of a new map.
    keys: Vec<Raw<'a>>,
}

impl<'a> Walk<'a> {
    fn run(&mut self, term: Raw<'a>) -> Result<Raw<'a>, Unfinished<'a>> {
        self.look(term)?;
        loop {
            match self.next()? {
                Next::Look(term) => self.look(term)?,
                Next::Skip => {}
                Next::Close(tail) => self.close(tail)?,
                Next::End => return Ok(self.results[0]),
            }
        }
    }

    /// Begins a value: pushes its result, or opens it.
    #[inline]
    fn look(&mut self, term: Raw<'a>) -> Result<(), Unfinished<'a>> {
        let terms = self.heap.terms;
        let kind = terms.kind(term);
        let has_parts = match kind {
            TermKind::List | TermKind::Map => true,
            TermKind::Tuple => self.form != Form::Keys,
            _ => false,
        };
        if !has_parts {
            let result = match kind {
                TermKind::Float => self.form.float(&mut self.heap, term),
                _ => term,
            };
            self.done(term, result);
            return Ok(());
        }
        if let Some(outer) = self.open.last_mut() {
            outer.nested = true;
        }
        if let Some(known) = self.seen.get(term) {
            self.done(term, known);
            return Ok(());
        }
        let parts = match kind {
            TermKind::List => Parts::List(term),
            TermKind::Tuple => {
                let elements = terms.tuple(term).unwrap_or(&[]);
                self.spend(1 + elements.len())?;
                Parts::Tuple(elements)
            }
            _ => match self.entries(term)? {
                Some(parts) => parts,
                None => {
                    self.done(term, term);
                    return Ok(());
                }
            },
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

    /// The entries of a map; `None` for a struct, which stays unchanged.
    fn entries(&mut self, map: Raw<'a>) -> Result<Option<Parts<'a>>, Unfinished<'a>> {
        let terms = self.heap.terms;
        let is_atom = |term: Raw<'a>| terms.kind(term) == TermKind::Atom;
        if let MapView::Flat(Flat { keys, values }) = view(terms, map) {
            self.spend(1 + keys.len())?;
            let is_struct_key = |key: &Raw<'a>| key.word() == self.struct_key.word();
            let module = keys.iter().position(is_struct_key).map(|at| values[at]);
            return Ok((!module.is_some_and(is_atom)).then_some(Parts::Map(keys, values)));
        }
        if terms.map_get(map, self.struct_key).is_some_and(is_atom) {
            return Ok(None);
        }
        let size = terms.map_size(map).unwrap_or(0);
        self.spend(1 + FUEL_A_LARGE * size)?;
        let (mut keys, mut values) = (Vec::with_capacity(size), Vec::with_capacity(size));
        terms.each_entry(map, |key, value| {
            keys.push(key);
            values.push(value);
        });
        Ok(Some(Parts::LargeMap(keys, values)))
    }

    /// The next part of the innermost value.
    #[inline]
    fn next(&mut self) -> Result<Next<'a>, Unfinished<'a>> {
        let terms = self.heap.terms;
        let Some(open) = self.open.last_mut() else {
            return Ok(Next::End);
        };
        let at = self.results.len() - open.start;
        let (keys, values): (&[Raw<'a>], &[Raw<'a>]) = match &mut open.parts {
            Parts::List(rest) => {
                self.meter.consume_fuel(1, &self.heap)?;
                self.seen.count(1);
                if let Some(tail) = self.seen.tail(*rest, at) {
                    return Ok(Next::Close(Some(tail)));
                }
                if let Some((head, tail)) = terms.uncons(*rest) {
                    *rest = tail;
                    return Ok(Next::Look(head));
                }
                if terms.is_empty_list(*rest) {
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
            Parts::Tuple(elements) => {
                return Ok(elements
                    .get(at)
                    .map_or(Next::Close(None), |it| Next::Look(*it)))
            }
            Parts::Map(keys, values) => (keys, values),
            Parts::LargeMap(keys, values) => (keys, values),
        };
        let (Some(&key), Some(&value)) = (keys.get(at), values.get(at)) else {
            return Ok(Next::Close(None));
        };
        // Hidden values are not converted.
        if self.form == Form::Public && self.names.is_hidden(terms, key) {
            open.changed = true;
            self.results.push(value);
            return Ok(Next::Skip);
        }
        Ok(Next::Look(value))
    }

    /// Pushes the result of a value.
    #[inline]
    fn done(&mut self, term: Raw<'a>, result: Raw<'a>) {
        if let Some(open) = self.open.last_mut() {
            open.changed |= term.word() != result.word();
        }
        self.results.push(result);
    }

    /// Consumes fuel for work before it is done.
    #[inline]
    fn spend(&mut self, units: usize) -> Result<(), Unfinished<'a>> {
        self.seen.count(units);
        Ok(self.meter.consume_fuel(units, &self.heap)?)
    }
}

/// `{:ok, value}`, `{:improper, tail}` for an improper list where it must be proper, or `:busy`.
fn in_form<'a>(env: Env<'a>, term: Term<'a>, form: Atom, pace: Pace) -> NifResult<Term<'a>> {
    let mut walk = Walk {
        heap: Beam::new(env, 0),
        // A quantum continues to the end: this walk cannot be suspended.
        meter: whole(Limits::UNLIMITED, pace),
        form: Form::of(form)?,
        names: Names::new(),
        seen: Converted::default(),
        struct_key: rustler::types::atom::__struct__().encode(env).into(),
        open: Vec::with_capacity(16),
        results: Vec::with_capacity(64),
        keys: Vec::new(),
    };
    let result = walk.run(term.into());
    settle(env, &walk.meter);
    Ok(match result {
        Ok(value) => (atoms::ok(), value.term(env)).encode(env),
        Err(Unfinished::Improper(tail)) => (atoms::improper(), tail.term(env)).encode(env),
        Err(Unfinished::Busy) => atoms::busy().encode(env),
    })
}

nif_pair! {
    /// Converts a value to the form with this name.
    fn normalize, normalize_dirty<'a>(env, pace, term: Term<'a>, form: Atom) -> NifResult<Term<'a>> {
        in_form(env, term, form, pace)
    }
}
