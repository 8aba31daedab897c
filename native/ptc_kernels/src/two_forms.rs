//! Keys in two forms: where atoms are keys, a string and the atom of the same name are one name.

use crate::context::Context;
use ptc_term::heap::{Heap, Kind};
use ptc_term::stop::Stop;
use std::collections::HashSet;

/// Bytes of a name that are hashed and copied per unit of fuel.
const BYTES_A_UNIT: usize = 16;
/// Words of native memory for a name, besides its bytes.
const WORDS_OF_NAME: usize = 8;

impl<H: Heap> Context<'_, H> {
    /// Drops the entries of a new map whose name a map before has in the other form. The entries are those of several maps, one
    /// after the other, of which the first ones count; `starts` are the indices at which the second and the following maps begin.
    pub fn drop_other_forms<E>(
        &mut self,
        entries: &mut Vec<E>,
        starts: &[usize],
        key_of: impl Fn(&E) -> H::Term,
    ) -> Result<(), Stop> {
        if !self.reading.any_keys {
            return Ok(());
        }
        let (mut strings, mut atoms, mut bytes) = (false, false, 0);
        for entry in entries.iter() {
            let key = key_of(entry);
            match self.heap.kind(key) {
                Kind::String => strings = true,
                Kind::Other if self.heap.is_name(key) => atoms = true,
                _ => {}
            }
            bytes += self.heap.byte_length(key).unwrap_or(0);
        }
        // Most maps have keys of one kind.
        if !(strings && atoms) {
            return Ok(());
        }
        self.check_heap_limit(WORDS_OF_NAME * entries.len() + bytes / 8)?;
        self.consume_fuel_at_once(entries.len() + bytes / BYTES_A_UNIT)?;
        let heap = &*self.heap;
        let (mut before, mut own) = (HashSet::new(), Vec::new());
        let (mut at, mut starts) = (0, starts.iter().copied().peekable());
        entries.retain(|entry| {
            while starts.next_if(|start| *start <= at).is_some() {
                before.extend(own.drain(..));
            }
            at += 1;
            let key = key_of(entry);
            let name = match heap.kind(key) {
                Kind::String => heap.bytes(key).map(|name| (name.to_vec(), true)),
                Kind::Other if heap.is_name(key) => {
                    Some((heap.with_name(key, <[u8]>::to_vec), false))
                }
                _ => None,
            };
            let Some((name, is_string)) = name else {
                return true;
            };
            let other = (name, !is_string);
            if before.contains(&other) {
                return false;
            }
            own.push((other.0, is_string));
            true
        });
        Ok(())
    }
}
