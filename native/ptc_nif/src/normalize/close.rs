//! Builds values from the results of their parts.

use super::forms::Form;
use super::{OpenTerm, Parts, Unfinished, Walk, BYTES_A_UNIT, FUEL_OF_NEW};
use crate::map_view::SMALL;
use crate::raw::Raw;
use ptc_core::heap::Heap;

/// A key of up to this many bytes takes no longer than the rest of its entry.
const LONG_KEY: usize = 64;

/// A map with at most this many changed values is updated value by value, so that it shares its keys.
const FEW: usize = 4;

impl<'a> Walk<'a> {
    /// Completes the innermost value. `tail`: the term that its list ends with, if it is not the empty list.
    pub(super) fn close(&mut self, tail: Option<Raw<'a>>) -> Result<(), Unfinished<'a>> {
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
        self.spend(self.results.len() - start)?;
        let result = match (parts, self.form) {
            (Parts::List(rest), _) => self.list(term, rest, start, changed, tail),
            (Parts::Tail, _) if !changed => term,
            (Parts::Tail, _) => self.cells(start, tail),
            (Parts::Tuple(_), Form::CacheKey) => self.heap.terms.make_list(&self.results[start..]),
            (Parts::Tuple(_), _) if !changed => term,
            (Parts::Tuple(_), _) => self.heap.terms.make_tuple(&self.results[start..]),
            (Parts::Map(keys, old), _) => self.map(term, keys, old, start, changed)?,
            (Parts::LargeMap(keys, old), _) => self.map(term, &keys, &old, start, changed)?,
        };
        let deep = nested || self.results.len() - start > SMALL;
        self.results.truncate(start);
        self.seen.add(term, result, deep);
        self.done(term, result);
        Ok(())
    }

    /// A list of the results that ends with `tail`, which is the result of `rest`.
    fn list(
        &mut self,
        list: Raw<'a>,
        rest: Raw<'a>,
        start: usize,
        changed: bool,
        tail: Option<Raw<'a>>,
    ) -> Raw<'a> {
        let same = !changed && tail.is_none_or(|tail| tail.word() == rest.word());
        if !self.seen.is_long() {
            return match same {
                true => list,
                false => self.cells(start, tail),
            };
        }
        let terms = self.heap.terms;
        let (mut cells, mut cell) = (Vec::with_capacity(self.results.len() - start), list);
        while let Some((_, next)) = terms.uncons(cell).filter(|_| cell.word() != rest.word()) {
            cells.push(cell);
            cell = next;
        }
        let mut made = tail.unwrap_or(rest);
        for (cell, result) in cells.iter().zip(&self.results[start..]).rev() {
            made = match same {
                true => *cell,
                false => terms.cons(*result, made),
            };
            if self.seen.keeps(*cell) {
                self.seen.add(*cell, made, true);
            }
        }
        made
    }

    /// Makes new cells for the results.
    fn cells(&self, start: usize, tail: Option<Raw<'a>>) -> Raw<'a> {
        let (terms, items) = (self.heap.terms, &self.results[start..]);
        match tail {
            None => terms.make_list(items),
            Some(tail) => {
                let cons = |tail, item: &Raw<'a>| terms.cons(*item, tail);
                items.iter().rev().fold(tail, cons)
            }
        }
    }

    fn map(
        &mut self,
        map: Raw<'a>,
        keys: &[Raw<'a>],
        old: &[Raw<'a>],
        start: usize,
        changed: bool,
    ) -> Result<Raw<'a>, Unfinished<'a>> {
        if changed && keys.len() > SMALL {
            self.spend(FUEL_OF_NEW * keys.len())?;
        }
        if self.form == Form::Public {
            return Ok(self.public_map(map, keys, old, start, changed));
        }
        let terms = self.heap.terms;
        let mut new_keys = std::mem::take(&mut self.keys);
        new_keys.clear();
        let mut renamed = false;
        for key in keys {
            let bytes = self.heap.byte_length(*key).unwrap_or(0);
            if bytes > LONG_KEY {
                self.spend(bytes / BYTES_A_UNIT)?;
            }
            let name = self.names.underscored(terms, *key);
            renamed |= name.word() != key.word();
            new_keys.push(name);
        }
        if renamed && !changed && keys.len() > SMALL {
            self.spend(FUEL_OF_NEW * keys.len())?;
        }
        let values = &self.results[start..];
        let result = match renamed {
            false if !changed => map,
            false => self.with_values(map, keys, old, values),
            true => self.renamed_map(keys, &new_keys, start),
        };
        self.keys = new_keys;
        Ok(result)
    }

    /// The map with other values.
    fn with_values(
        &self,
        map: Raw<'a>,
        keys: &[Raw<'a>],
        old: &[Raw<'a>],
        values: &[Raw<'a>],
    ) -> Raw<'a> {
        let terms = self.heap.terms;
        let others = || (0..keys.len()).filter(|at| values[*at].word() != old[*at].word());
        if others().take(FEW + 1).count() <= FEW {
            let update =
                |map, at: usize| terms.map_update(map, keys[at], values[at]).unwrap_or(map);
            return others().fold(map, update);
        }
        terms.make_map(keys, values).unwrap_or(map)
    }

    /// A map with other keys. If keys are equal, the one that was last in term order counts.
    fn renamed_map(&mut self, old_keys: &[Raw<'a>], keys: &[Raw<'a>], start: usize) -> Raw<'a> {
        let values = &self.results[start..];
        let size = keys.len();
        let made = match size <= SMALL {
            true => self.heap.terms.make_map(keys, values),
            false => Some(self.heap.make_map(keys, values)),
        };
        match made {
            Some(made) if size <= SMALL || self.heap.map_size(made) == Some(size) => made,
            _ => self.map_of_repeated(old_keys, keys, start),
        }
    }

    #[cold]
    fn map_of_repeated(&mut self, old_keys: &[Raw<'a>], keys: &[Raw<'a>], start: usize) -> Raw<'a> {
        let values = &self.results[start..];
        let mut order: Vec<usize> = (0..keys.len()).collect();
        order.sort_by(|a, b| self.heap.compare(old_keys[*b], old_keys[*a]));
        let (mut kept, mut kept_values) = (Vec::new(), Vec::new());
        for at in order {
            let is_it = |key: &Raw<'a>| self.heap.identical(*key, keys[at]);
            // For a large map, `make_map` itself keeps the first of equal keys.
            if keys.len() > SMALL || !kept.iter().any(is_it) {
                kept.push(keys[at]);
                kept_values.push(values[at]);
            }
        }
        self.heap.make_map(&kept, &kept_values)
    }

    fn public_map(
        &mut self,
        map: Raw<'a>,
        keys: &[Raw<'a>],
        old: &[Raw<'a>],
        start: usize,
        changed: bool,
    ) -> Raw<'a> {
        if !changed {
            return map;
        }
        let terms = self.heap.terms;
        let values = &self.results[start..];
        let (mut kept, mut kept_values) = (Vec::with_capacity(keys.len()), Vec::new());
        for (key, value) in keys.iter().zip(values) {
            if !self.names.is_hidden(terms, *key) {
                kept.push(*key);
                kept_values.push(*value);
            }
        }
        match kept.len() == keys.len() {
            true => self.with_values(map, keys, old, values),
            false => terms.make_map(&kept, &kept_values).unwrap_or(map),
        }
    }
}
