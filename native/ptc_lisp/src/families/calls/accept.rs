//! What becomes of the value of a function for an item.

use super::each::{Each, EachStage};
use crate::code::{Halt, Machine};
use crate::exec::checks::failed;
use crate::families::seqs;
use crate::table::Builtin;
use crate::values::{class, Class};
use ptc_kernels::KEPT_BETWEEN_CHECKS;
use ptc_term::heap::{Heap, Kind, WORDS_OF_CELL};
use ptc_term::roots::Roots;

/// Fuel for reading an entry of a map.
const ENTRY: usize = 4;
/// The words of a pair as a tuple, and of its cell.
const WORDS_OF_TUPLE: usize = 3 + WORDS_OF_CELL;

/// Keeps a term for a list.
#[inline]
pub(super) fn keep<H: Heap>(
    m: &Machine<'_, H>,
    kept: &mut Roots<H::Term>,
    term: H::Term,
) -> Result<(), Halt<H>> {
    if kept.len().is_multiple_of(KEPT_BETWEEN_CHECKS) {
        m.check_heap_limit(WORDS_OF_CELL * kept.len())?;
    }
    kept.push(term);
    Ok(())
}

impl<T: Copy> Each<T> {
    /// Takes the value of the function for an item, the first one that is not visited. If it is stopped, it gets the value
    /// again.
    #[inline]
    pub(super) fn accept<H: Heap<Term = T>>(
        &mut self,
        m: &mut Machine<'_, H>,
        (item, tail): (T, T),
        value: T,
    ) -> Result<(), Halt<H>> {
        match self.builtin {
            Builtin::Map | Builtin::Mapv | Builtin::MapIndexed | Builtin::Pmap => {
                keep(m, &mut self.kept, value)?
            }
            Builtin::Filter | Builtin::Filterv => {
                if m.heap.truthy(value) {
                    keep(m, &mut self.kept, item)?
                }
            }
            Builtin::Remove => {
                if !m.heap.truthy(value) {
                    keep(m, &mut self.kept, item)?
                }
            }
            Builtin::Keep | Builtin::KeepIndexed | Builtin::SumBy | Builtin::AvgBy => {
                if m.heap.kind(value) != Kind::Nil {
                    keep(m, &mut self.kept, value)?
                }
            }
            Builtin::Some | Builtin::IsNotAny => {
                if m.heap.truthy(value) {
                    self.found = Some(value);
                    self.stage = EachStage::Ending;
                }
            }
            Builtin::IsEvery | Builtin::IsNotEvery => {
                if !m.heap.truthy(value) {
                    self.found = Some(value);
                    self.stage = EachStage::Ending;
                }
            }
            Builtin::TakeWhile | Builtin::DropWhile | Builtin::SplitWith => {
                if !m.heap.truthy(value) {
                    self.stage = EachStage::Ending;
                    return Ok(());
                }
                if self.builtin != Builtin::DropWhile {
                    keep(m, &mut self.kept, item)?
                }
            }
            Builtin::Mapcat => self.begin_inside(m, value)?,
            Builtin::PartitionBy => self.add_to_part(m, item, value)?,
            Builtin::SortBy => {
                keep(m, &mut self.kept, item)?;
                self.keys.push(value);
            }
            Builtin::GroupBy => {
                if let Some(groups) = &mut self.groups {
                    let entry = groups.entry(m, &mut self.keys, (0, 0), value)?;
                    groups.add(m, &mut self.kept, (entry, item))?;
                }
            }
            Builtin::DistinctBy => self.add_different(m, item, value)?,
            _ => self.compare_with_best(m, item, value)?,
        }
        self.rest = tail;
        self.at += 1;
        Ok(())
    }

    fn add_different<H: Heap<Term = T>>(
        &mut self,
        m: &mut Machine<'_, H>,
        item: T,
        key: T,
    ) -> Result<(), Halt<H>> {
        let Some(table) = &mut self.table else {
            return Ok(());
        };
        m.consume_fuel_to_hash(key)?;
        let before = self.keys.len();
        if before.is_multiple_of(KEPT_BETWEEN_CHECKS) {
            m.check_heap_limit(table.words() + 2 * WORDS_OF_CELL * before)?;
        }
        table.insert(m, &ptc_kernels::Kinds::default(), &mut self.keys, key)?;
        if self.keys.len() > before {
            self.kept.push(item);
        }
        Ok(())
    }

    /// `min-by` and `max-by` skip items without a key; of equal ones the first counts.
    fn compare_with_best<H: Heap<Term = T>>(
        &mut self,
        m: &mut Machine<'_, H>,
        item: T,
        key: T,
    ) -> Result<(), Halt<H>> {
        let skips = matches!(self.builtin, Builtin::MinBy | Builtin::MaxBy);
        if skips && m.heap.kind(key) == Kind::Nil {
            return Ok(());
        }
        let is_better = match self.key {
            None => true,
            Some(best) => {
                let order = m.compare(key, best)?;
                match self.builtin {
                    Builtin::MinBy | Builtin::MinKey => order.is_lt(),
                    _ => order.is_gt(),
                }
            }
        };
        if is_better {
            (self.found, self.key) = (Some(item), Some(key));
        }
        Ok(())
    }

    /// Adds an item to the current part, or begins the next one if its key is another one.
    fn add_to_part<H: Heap<Term = T>>(
        &mut self,
        m: &mut Machine<'_, H>,
        item: T,
        key: T,
    ) -> Result<(), Halt<H>> {
        let is_same = match self.key {
            Some(last) => m.identical(last, key)?,
            None => true,
        };
        if !is_same {
            self.end_part(m)?;
        }
        self.key = Some(key);
        keep(m, &mut self.kept, item)
    }

    /// Makes the list of the current part.
    pub(super) fn end_part<H: Heap<Term = T>>(
        &mut self,
        m: &mut Machine<'_, H>,
    ) -> Result<(), Halt<H>> {
        let list = self.listing.all(m, &self.kept)?;
        keep(m, &mut self.keys, list)?;
        self.kept.truncate(0, m.heap);
        self.listing = Default::default();
        Ok(())
    }

    /// Begins to add the items of a value of `mapcat`.
    fn begin_inside<H: Heap<Term = T>>(
        &mut self,
        m: &mut Machine<'_, H>,
        value: T,
    ) -> Result<(), Halt<H>> {
        let by_key = self.function.is_key();
        match class(m, value) {
            Class::List => self.inside = Some(value),
            Class::Nil if by_key => {}
            _ if by_key => keep(m, &mut self.kept, value)?,
            Class::Set => self.inside = Some(seqs::items(m, value)?),
            Class::Map => self.keep_entries(m, value)?,
            _ => return Err(failed("mapcat_result", self.builtin, &[value])),
        }
        Ok(())
    }

    /// Keeps the entries of a map as tuples.
    fn keep_entries<H: Heap<Term = T>>(
        &mut self,
        m: &mut Machine<'_, H>,
        map: T,
    ) -> Result<(), Halt<H>> {
        let size = m.heap.map_size(map).unwrap_or(0);
        m.check_heap_limit(WORDS_OF_TUPLE * (size + self.kept.len()))?;
        m.consume_fuel_at_once(ENTRY * size)?;
        for (key, value) in m.heap.entries(map) {
            let entry = m.heap.make_tuple_value(&[key, value]);
            self.kept.push(entry);
        }
        Ok(())
    }

    /// Keeps the items of a value of `mapcat`.
    pub(super) fn keep_inside<H: Heap<Term = T>>(
        &mut self,
        m: &mut Machine<'_, H>,
    ) -> Result<(), Halt<H>> {
        while let Some((item, tail)) = self.inside.and_then(|rest| m.heap.uncons(rest)) {
            m.consume_fuel(1)?;
            keep(m, &mut self.kept, item)?;
            self.inside = Some(tail);
            m.meter.advanced();
        }
        self.inside = None;
        Ok(())
    }
}
