//! The walk over the values of a map with any keys, as over a list; and which structs a type takes.

use super::super::constraint::name_of;
use super::super::findings::Wrong;
use super::super::mismatch::Target;
use super::super::values::{Class, Values};
use super::super::TypeId;
use super::frame::ListFrame;
use super::{Task, Walk, WalkEnd, Whole};

/// Fuel for an entry of a map.
const ENTRY: usize = 16;

impl<H: Values, K: Task<H>> Walk<'_, H, K> {
    /// Begins a map with any keys.
    #[inline(never)]
    pub(super) fn values(
        &mut self,
        value: H::Term,
        id: TypeId,
        holds: TypeId,
    ) -> Result<Option<K::Done>, WalkEnd> {
        if self.heap.class(value) != Class::Map || self.heap.is_struct(value) {
            self.refuse(None, Target::Map, value)?;
            return Ok(Some(K::SAME));
        }
        if self.memo.has(|| self.heap.identity(value), id) {
            return Ok(Some(K::SAME));
        }
        self.consume_fuel(ENTRY * self.heap.map_size(value).unwrap_or(0))?;
        let list = ListFrame {
            id,
            holds,
            taken: 0,
            hidden: self.hides_part::<true>(),
            keyed: true,
            findings: self.state.findings.count(),
            mark: self.state.task.mark(),
        };
        let (mut keys, values): (Vec<_>, Vec<_>) = self.heap.entries(value).into_iter().unzip();
        let is_name = |key: &H::Term| name_of(&*self.heap, *key, |_| ()).is_some();
        let others: Vec<_> = keys.iter().filter(|key| !is_name(key)).copied().collect();
        if !others.is_empty() {
            self.state.findings.report(others.len())?;
            let others = self.heap.make_list(&others);
            self.report(None, Wrong::Unexpected, Some(others))?;
        }
        keys.push(value);
        let keys = self.heap.make_tuple(&keys);
        let values = self.heap.make_list(&values);
        self.state.stack.push_values(keys, values, list);
        Ok(None)
    }

    /// Ends a map with any keys: its values are a list that was removed from the stack.
    pub(super) fn values_end(
        &mut self,
        values: H::Term,
        list: &ListFrame<K::Mark>,
    ) -> Result<Whole<H, K>, WalkEnd> {
        let keys = self.state.stack.pop_keys(&*self.heap);
        let done = K::list_end(self, values, list, true)?;
        let mut made = K::value(done, values);
        let (keys, map) = match self.heap.elements(keys) {
            Some([keys @ .., map]) => (keys.to_vec(), *map),
            _ => return Err(WalkEnd::Abandoned),
        };
        if self.heap.same(made, values) {
            self.remember(map, list.id, list.findings, &list.mark);
            return Ok((map, K::SAME));
        }
        self.consume_fuel(ENTRY * keys.len())?;
        let mut all = Vec::with_capacity(keys.len());
        while let Some((value, rest)) = self.heap.uncons(made) {
            all.push(value);
            made = rest;
        }
        Ok((map, K::made(self.heap.make_map(&keys, &all))))
    }

    /// Returns whether a struct is a value of a map type: one of its module, if the type is a struct.
    #[cold]
    pub(super) fn takes_struct(&mut self, value: H::Term, id: TypeId) -> bool {
        match self.types.module(id) {
            Some(number) => {
                let module = self.state.rules[number as usize];
                self.is_struct_of(value, module)
            }
            None => self.state.task.takes_structs(),
        }
    }

    /// Returns whether a value is a struct of this module.
    pub(in super::super) fn is_struct_of(&self, value: H::Term, module: H::Term) -> bool {
        let key = self.heap.existing_atom(b"__struct__");
        let mut cache = H::KeyCache::default();
        let found = key.map(|key| self.heap.lookup(value, key, &mut cache));
        matches!(found, Some(ptc_term::heap::Lookup::Found(found)) if self.heap.same(found, module))
    }
}
