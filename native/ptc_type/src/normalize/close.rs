//! Builds values from the results of their parts.

use super::{Form, Normalizing, OpenTerm, Parts, Unfinished, BYTES_A_UNIT, FUEL_OF_NEW};
use crate::values::Values;
use ptc_term::heap::FLAT_MAP;

/// A key of up to this many bytes takes no longer than the rest of its entry.
const LONG_KEY: usize = 64;

impl<H: Values> Normalizing<'_, H> {
    /// Completes the innermost value. `tail`: the term that its list ends with, if it is not the empty list.
    pub(super) fn close(&mut self, tail: Option<H::Term>) -> Result<(), Unfinished<H::Term>> {
        let Some(OpenTerm {
            term,
            parts,
            start,
            changed,
            nested,
        }) = self.open.pop()
        else {
            return Ok(());
        };
        self.consume_fuel(self.results.len() - start)?;
        let results = &self.results[start..];
        let result = match (parts, self.form) {
            (Parts::List(rest), _) => self.list(term, rest, start, changed, tail),
            (Parts::Tuple, Form::CacheKey) => self.heap.make_list(results),
            (Parts::Tail | Parts::Tuple, _) if !changed => term,
            (Parts::Tail, _) => self.cells(start, tail),
            (Parts::Tuple, _) => self.heap.make_tuple(results),
            (Parts::Map | Parts::LargeMap(..), Form::Public) if !changed => term,
            (Parts::Map, _) => {
                let mut entries = std::mem::take(&mut self.entries);
                entries.clear();
                let (keys, values) = self.heap.flat(term).unwrap_or_default();
                entries.extend(keys.iter().chain(values));
                let (keys, old) = entries.split_at(entries.len() / 2);
                let result = self.map(term, keys, old, start, changed)?;
                self.entries = entries;
                result
            }
            (Parts::LargeMap(keys, old), _) => self.map(term, &keys, &old, start, changed)?,
        };
        let deep = nested || self.results.len() - start > FLAT_MAP;
        self.results.truncate(start);
        self.seen.add(|| self.heap.identity(term), result, deep);
        self.done(term, result);
        Ok(())
    }

    /// A list of the results that ends with `tail`, which is the result of `rest`.
    fn list(
        &mut self,
        list: H::Term,
        rest: H::Term,
        start: usize,
        changed: bool,
        tail: Option<H::Term>,
    ) -> H::Term {
        let same = !changed && tail.is_none_or(|tail| self.heap.same(tail, rest));
        if !self.seen.is_long() {
            return match same {
                true => list,
                false => self.cells(start, tail),
            };
        }
        let Normalizing { heap, seen, .. } = self;
        let (mut cells, mut cell) = (Vec::with_capacity(self.results.len() - start), list);
        while let Some((_, next)) = heap.uncons(cell).filter(|_| !heap.same(cell, rest)) {
            cells.push(cell);
            cell = next;
        }
        let mut made = tail.unwrap_or(rest);
        for (cell, result) in cells.iter().zip(&self.results[start..]).rev() {
            made = match same {
                true => *cell,
                false => heap.cons(*result, made),
            };
            seen.add_tail(heap.identity(*cell), made);
        }
        made
    }

    /// Makes new cells for the results.
    fn cells(&mut self, start: usize, tail: Option<H::Term>) -> H::Term {
        let items = &self.results[start..];
        match tail {
            None => self.heap.make_list(items),
            Some(tail) => self.heap.make_list_onto(items, tail),
        }
    }

    fn map(
        &mut self,
        map: H::Term,
        keys: &[H::Term],
        old: &[H::Term],
        start: usize,
        changed: bool,
    ) -> Result<H::Term, Unfinished<H::Term>> {
        let is_large = keys.len() > FLAT_MAP;
        if changed && is_large {
            self.consume_fuel(FUEL_OF_NEW * keys.len())?;
        }
        if self.form == Form::Public {
            return Ok(self.public_map(map, keys, old, start));
        }
        let mut new_keys = std::mem::take(&mut self.keys);
        new_keys.clear();
        let mut renamed = false;
        for key in keys {
            let bytes = self.heap.byte_length(*key).unwrap_or(0);
            if bytes > LONG_KEY {
                self.consume_fuel(bytes / BYTES_A_UNIT)?;
            }
            let name = self.names.underscored(self.heap, *key);
            renamed |= !self.heap.same(name, *key);
            new_keys.push(name);
        }
        if renamed && !changed && is_large {
            self.consume_fuel(FUEL_OF_NEW * keys.len())?;
        }
        let values = &self.results[start..];
        let result = match renamed {
            false if !changed => map,
            false => self.heap.remake_map(map, keys, old, values),
            true => self.renamed_map(keys, &new_keys, start),
        };
        self.keys = new_keys;
        Ok(result)
    }

    /// A map with other keys. If keys are equal, the one that was last in term order counts.
    fn renamed_map(&mut self, old_keys: &[H::Term], keys: &[H::Term], start: usize) -> H::Term {
        let values = &self.results[start..];
        let made = self.heap.make_map(keys, values);
        if self.heap.map_size(made) == Some(keys.len()) {
            return made;
        }
        // Of equal keys, `make_map` keeps the first.
        let mut order: Vec<usize> = (0..keys.len()).collect();
        order.sort_by(|a, b| self.heap.compare(old_keys[*b], old_keys[*a]));
        let (keys, values): (Vec<_>, Vec<_>) =
            order.into_iter().map(|at| (keys[at], values[at])).unzip();
        self.heap.make_map(&keys, &values)
    }

    fn public_map(
        &mut self,
        map: H::Term,
        keys: &[H::Term],
        old: &[H::Term],
        start: usize,
    ) -> H::Term {
        let values = &self.results[start..];
        let (mut kept, mut kept_values) = (Vec::with_capacity(keys.len()), Vec::new());
        for (key, value) in keys.iter().zip(values) {
            if !self.names.is_hidden(self.heap, *key) {
                kept.push(*key);
                kept_values.push(*value);
            }
        }
        match kept.len() == keys.len() {
            true => self.heap.remake_map(map, keys, old, values),
            false => self.heap.remake_map(map, &kept, &[], &kept_values),
        }
    }
}
