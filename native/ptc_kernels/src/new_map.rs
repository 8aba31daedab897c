//! New maps made from other maps: for maps with the same keys it is found out once where each value comes from.
//!
//! The rows of a table have the same keys. So the map that `set` or `join` makes of the next row has the keys of the last
//! one, too, and only its values are put in place. The keys of rows may be copies: then they are compared.

use crate::context::{ConstId, Context, Made, KEY_OF_NEW, MAP_ENTRY};
use crate::layout::{Flat, Layout, Run, Source, OPERANDS};
use ptc_term::heap::{words_of_map, Heap, Inside, Kind, FLAT_MAP};
use ptc_term::stop::Stop;
use ptc_term::value::Form;

/// Maximum number of layouts of one instruction.
const MOST_OF_ONE: usize = 4;
/// Maximum number of layouts.
const MOST: usize = 32;
/// Maximum length in bytes of a key that costs no more than its entry.
const SHORT_KEY: usize = 64;
/// Fuel for an entry of a map that is made by a layout, as a divisor.
const ENTRIES_A_UNIT: usize = 4;
/// Up to this many keys, each entry is compared with every one.
const FEW: usize = 8;
/// Fuel for a comparison of an entry with one of more keys.
const COMPARED: usize = 2;

/// Where a value of a new map comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The value at this index of the first or the second map.
    Map(u8, u32),
    /// The operand at this index.
    Operand(u32),
    /// A map that is not flat.
    Unknown,
}

/// An entry of a new map.
#[derive(Debug, Clone, Copy)]
pub struct MapEntry<T> {
    /// The key.
    pub key: T,
    /// The value.
    pub value: T,
    /// Where the value comes from.
    pub origin: Origin,
}

/// The entries of a new map.
#[derive(Debug)]
pub struct Entries<T> {
    /// The entries; of equal keys the first one counts.
    pub all: Vec<MapEntry<T>>,
    /// The cost of comparing the long keys.
    pub heavy: usize,
}

impl<T> Default for Entries<T> {
    fn default() -> Self {
        Entries {
            all: Vec::new(),
            heavy: 0,
        }
    }
}

impl<H: Heap> Context<'_, H> {
    /// Makes a map as this maker made one from maps with the same keys; `None` if it has not made one. The maker is the
    /// first constant of an instruction.
    #[inline]
    pub fn map_as_before(
        &mut self,
        maker: ConstId,
        maps: &[H::Term],
        operands: &[H::Term],
    ) -> Result<Option<H::Term>, Stop> {
        self.make_as_before(maker, maps, operands, true)
    }

    /// Makes a map as `map_as_before` does, of new operands, which would be made again if this were suspended: the caller has
    /// counted them and the map.
    #[inline]
    pub fn map_of_new_as_before(
        &mut self,
        maker: ConstId,
        operands: &[H::Term],
    ) -> Result<Option<H::Term>, Stop> {
        self.make_as_before(maker, &[], operands, false)
    }

    #[inline]
    fn make_as_before(
        &mut self,
        maker: ConstId,
        maps: &[H::Term],
        operands: &[H::Term],
        counted: bool,
    ) -> Result<Option<H::Term>, Stop> {
        if self.reading.values && !maps.iter().all(|map| self.heap.form(*map) == Form::Plain) {
            return Ok(None);
        }
        let heap = &*self.heap;
        let mut flat: [Flat<'_, H::Term>; 2] = [(&[], &[]); 2];
        for (flat, map) in flat.iter_mut().zip(maps) {
            match heap.flat(*map) {
                Some(of_map) => *flat = of_map,
                None => return Ok(None),
            }
        }
        let all = &flat[..maps.len()];
        let mut layouts = self.layouts.iter_mut();
        let Some(layout) =
            layouts.find_map(|it| (it.maker == maker && it.fits(heap, all)).then_some(it))
        else {
            return Ok(None);
        };
        let from = [flat[0].1, flat[1].1, operands];
        let values = &mut self.values_of_new;
        values.clear();
        for Run {
            from: of,
            first,
            count,
        } in &layout.runs
        {
            values.extend_from_slice(&from[*of][*first..first + count]);
        }
        if counted {
            let cost = values.len() / ENTRIES_A_UNIT;
            self.meter.consume_fuel(cost, self.heap)?;
        }
        Ok(Some(self.heap.make_map(&layout.keys, values)))
    }

    /// Adds the entries of a map that is the first or the second source of a new one. Counts them, as entries of the
    /// new map; a struct has its fields.
    pub fn add_entries(
        &mut self,
        entries: &mut Entries<H::Term>,
        map: H::Term,
        which: u8,
    ) -> Result<(), Stop> {
        let size = self.heap.map_size(map).unwrap_or(0);
        self.check_heap_limit(words_of_map(entries.all.len() + size))?;
        self.consume_fuel_at_once(MAP_ENTRY * size)?;
        let (flat, hides) = (self.heap.flat(map).is_some(), self.hides(map));
        for (at, (key, value)) in self.heap.entries(map).into_iter().enumerate() {
            if hides && self.heap.is_hidden(key) {
                continue;
            }
            entries.heavy += self.weigh_if_long(key)?;
            let origin = match flat {
                true => Origin::Map(which, at as u32),
                false => Origin::Unknown,
            };
            entries.all.push(MapEntry { key, value, origin });
        }
        Ok(())
    }

    /// Returns the cost of comparing a key, if that is more than its entry costs. Counts the walk that computes it.
    pub fn weigh_if_long(&mut self, key: H::Term) -> Result<usize, Stop> {
        match is_short(self.heap, key) {
            true => Ok(0),
            false => self.weigh(key),
        }
    }

    /// Adds an entry with a constant key. `map`: the map whose key of this name it replaces: that may be an atom.
    pub fn add_entry(
        &mut self,
        entries: &mut Entries<H::Term>,
        (key, map): (ConstId, Option<H::Term>),
        (value, origin): (H::Term, Origin),
    ) -> Result<H::Term, Stop> {
        entries.heavy += self.weight_of_key(key)?;
        let name = self.constant(key);
        let found = map.and_then(|map| self.key_in(map, name));
        let key = found.unwrap_or(name);
        entries.all.push(MapEntry { key, value, origin });
        Ok(key)
    }

    /// Drops the entries from index `from` on whose key is one of these. Counts the comparisons with many.
    pub fn drop_entries(
        &mut self,
        entries: &mut Entries<H::Term>,
        from: usize,
        mut keys: Vec<H::Term>,
    ) -> Result<(), Stop> {
        let few = keys.len() <= FEW;
        if !few {
            let compared = keys.len() + entries.all.len();
            self.consume_fuel_at_once(COMPARED * compared * keys.len().ilog2() as usize)?;
        }
        let heap = &*self.heap;
        if !few {
            keys.sort_by(|a, b| heap.compare(*a, *b));
        }
        let mut at = 0;
        entries.all.retain(|entry| {
            at += 1;
            let is_one = || match few {
                true => keys.iter().any(|key| heap.identical(*key, entry.key)),
                false => {
                    let found = keys.binary_search_by(|key| heap.compare(*key, entry.key));
                    found.is_ok_and(|found| heap.identical(keys[found], entry.key))
                }
            };
            at <= from || !is_one()
        });
        Ok(())
    }

    /// Makes a map of these entries, and remembers how for [`Context::map_as_before`]. `maps` are the maps they come
    /// from.
    pub fn make_map_of(
        &mut self,
        maker: ConstId,
        maps: &[H::Term],
        entries: Entries<H::Term>,
    ) -> Made<H> {
        self.consume_fuel_at_once(KEY_OF_NEW * entries.heavy)?;
        self.count_new_map(entries.all.len())?;
        let (keys, values): (Vec<_>, Vec<_>) = (entries.all.iter())
            .map(|entry| (entry.key, entry.value))
            .unzip();
        let map = self.heap.make_map(&keys, &values);
        if entries.all.len() <= FLAT_MAP && entries.heavy == 0 {
            self.remember(maker, maps, map, &entries.all);
        }
        Ok(map)
    }

    #[cold]
    fn remember(
        &mut self,
        maker: ConstId,
        maps: &[H::Term],
        map: H::Term,
        entries: &[MapEntry<H::Term>],
    ) {
        let of_maker = self.layouts.iter().filter(|it| it.maker == maker).count();
        if of_maker >= MOST_OF_ONE || self.layouts.len() >= MOST {
            return;
        }
        if self.reading.values && !maps.iter().all(|map| self.heap.form(*map) == Form::Plain) {
            return;
        }
        let heap = &*self.heap;
        let mut sources = Vec::with_capacity(maps.len());
        for map in maps {
            let Some((keys, _)) = heap.flat(*map) else {
                return;
            };
            if !keys.iter().all(|key| is_short(heap, *key)) {
                return;
            }
            sources.push(Source {
                address: keys.as_ptr() as usize,
                keys: keys.to_vec(),
            });
        }
        let Some((keys, _)) = heap.flat(map) else {
            return;
        };
        let mut runs: Vec<Run> = Vec::new();
        for key in keys {
            // Of equal keys the first one is in the map.
            let entry = entries.iter().find(|entry| heap.identical(entry.key, *key));
            let (from, first) = match entry.map(|entry| entry.origin) {
                None | Some(Origin::Unknown) => return,
                Some(Origin::Map(which, at)) => (usize::from(which), at as usize),
                Some(Origin::Operand(at)) => (OPERANDS, at as usize),
            };
            match runs.last_mut() {
                Some(run) if run.from == from && run.first + run.count == first => run.count += 1,
                _ => runs.push(Run {
                    from,
                    first,
                    count: 1,
                }),
            }
        }
        let keys = keys.to_vec();
        self.layouts.push(Layout {
            maker,
            sources,
            keys,
            runs,
        });
    }
}

/// Returns whether comparing a key with another one takes no longer than looking at an entry.
fn is_short<H: Heap>(heap: &H, key: H::Term) -> bool {
    match heap.kind(key) {
        Kind::String => heap.byte_length(key).is_some_and(|bytes| bytes < SHORT_KEY),
        Kind::Number => heap.limbs(key) == 0,
        Kind::Nil | Kind::Bool => true,
        Kind::Other => heap.is_name(key) && matches!(heap.inside(key), Inside::Nothing),
        Kind::List | Kind::Map => false,
    }
}
