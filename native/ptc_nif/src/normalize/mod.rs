//! Values in another form: with normalized keys, as the key of a cache, without hidden keys.
//!
//! * this file: the walk; [`forms`]: what the forms are; [`close`]: values out of their parts
//! * [`names`]: keys in another form; [`seen`]: what a long walk need not do again
//!
//! What does not change is the very term it was, so a value keeps its shared parts. Frames stand on
//! a stack of their own, so nothing recurses over depth.

mod close;
mod forms;
mod names;
mod seen;

use crate::atoms;
use crate::heap::Beam;
use crate::map_view::{view, Flat, MapView};
use crate::raw::Raw;
use crate::schedule::{nif_pair, settle, whole, Pace};
use forms::Form;
use names::Names;
use ptc_core::fault::Halt;
use ptc_core::meter::{Limits, Meter};
use rustler::sys::ErlNifTermType::*;
use rustler::{Atom, Encoder, Env, NifResult, Term};
use seen::Seen;

/// What it takes to get at an entry of a large map …
const FUEL_A_LARGE: usize = 8;
/// … and to put one into a new map.
const FUEL_OF_NEW: usize = 32;
/// So many bytes of a key are looked at for one unit.
const BYTES_A_UNIT: usize = 8;

/// Why a walk ends before its end.
enum Unfinished<'a> {
    /// It is too long for a scheduler's own thread, or nobody waits for it any more.
    Busy,
    /// A list that ends in this.
    Improper(Raw<'a>),
}

impl<'a> From<Halt<Raw<'a>>> for Unfinished<'a> {
    fn from(_: Halt<Raw<'a>>) -> Self {
        Unfinished::Busy
    }
}

/// A value whose parts are being looked at.
struct Open<'a> {
    term: Raw<'a>,
    parts: Parts<'a>,
    /// Where its results start among all.
    start: usize,
    /// One of them is not the part it was.
    changed: bool,
    /// One of them has parts.
    nested: bool,
}

enum Parts<'a> {
    /// The cells that are left.
    List(Raw<'a>),
    /// The tail of an improper list is the last part.
    Tail,
    Tuple(&'a [Raw<'a>]),
    /// Keys and values side by side.
    Map(&'a [Raw<'a>], &'a [Raw<'a>]),
    LargeMap(Vec<Raw<'a>>, Vec<Raw<'a>>),
}

/// What comes next.
enum Next<'a> {
    Look(Raw<'a>),
    /// The part has its result already.
    Skip,
    /// The innermost value is complete; a list that ends as one seen before ends in this.
    Close(Option<Raw<'a>>),
    End,
}

struct Walk<'a> {
    heap: Beam<'a>,
    meter: Meter,
    form: Form,
    names: Names<'a>,
    seen: Seen<'a>,
    struct_key: Raw<'a>,
    open: Vec<Open<'a>>,
    results: Vec<Raw<'a>>,
    /// The keys of the map that is being made.
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

    /// Takes up a value: its result, or its parts.
    #[inline]
    fn look(&mut self, term: Raw<'a>) -> Result<(), Unfinished<'a>> {
        let terms = self.heap.terms;
        let kind = terms.kind(term);
        let has_parts = match kind {
            ERL_NIF_TERM_TYPE_LIST | ERL_NIF_TERM_TYPE_MAP => true,
            ERL_NIF_TERM_TYPE_TUPLE => self.form != Form::Keys,
            _ => false,
        };
        if !has_parts {
            let result = match kind {
                ERL_NIF_TERM_TYPE_FLOAT => self.form.float(&mut self.heap, term),
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
            ERL_NIF_TERM_TYPE_LIST => Parts::List(term),
            ERL_NIF_TERM_TYPE_TUPLE => {
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
        self.open.push(Open {
            term,
            parts,
            start: self.results.len(),
            changed: false,
            nested: false,
        });
        Ok(())
    }

    /// The entries of a map; `None` for a struct, which stays as it is.
    fn entries(&mut self, map: Raw<'a>) -> Result<Option<Parts<'a>>, Unfinished<'a>> {
        let terms = self.heap.terms;
        let is_atom = |term: Raw<'a>| matches!(terms.kind(term), ERL_NIF_TERM_TYPE_ATOM);
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
        // What is hidden is not looked at.
        if self.form == Form::Public && self.names.is_hidden(terms, key) {
            open.changed = true;
            self.results.push(value);
            return Ok(Next::Skip);
        }
        Ok(Next::Look(value))
    }

    /// Takes down the result of a value.
    #[inline]
    fn done(&mut self, term: Raw<'a>, result: Raw<'a>) {
        if let Some(open) = self.open.last_mut() {
            open.changed |= term.word() != result.word();
        }
        self.results.push(result);
    }

    /// Counts work before it is done.
    #[inline]
    fn spend(&mut self, units: usize) -> Result<(), Unfinished<'a>> {
        self.seen.count(units);
        Ok(self.meter.consume_fuel(units, &self.heap)?)
    }
}

/// `{:ok, value}`, `{:improper, tail}` of a list that must be proper, or `:busy`.
fn in_form<'a>(env: Env<'a>, term: Term<'a>, form: Atom, pace: Pace) -> NifResult<Term<'a>> {
    let mut walk = Walk {
        heap: Beam::new(env, 0),
        // A quantum goes on to the end: what is open here cannot be left.
        meter: whole(Limits::UNLIMITED, pace),
        form: Form::of(form)?,
        names: Names::new(),
        seen: Seen::default(),
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
    /// A value in the form of that name.
    fn normalize, normalize_dirty<'a>(env, pace, term: Term<'a>, form: Atom) -> NifResult<Term<'a>> {
        in_form(env, term, form, pace)
    }
}
