//! The result of a built-in that has visited all items that it wants to visit.

use super::each::Each;
use super::sort::Sort;
use super::{CallsWork, Turn};
use crate::code::{Eval, Halt, Machine};
use crate::families::seqs;
use crate::table::Builtin;
use ptc_term::heap::Heap;
use ptc_vm::Halt as VmHalt;

impl<T: Copy> Each<T> {
    /// Makes the result.
    pub(super) fn end<H: Heap<Term = T>>(
        &mut self,
        m: &mut Machine<'_, H>,
    ) -> Result<Turn<T>, Halt<H>> {
        if self.builtin == Builtin::SortBy {
            let items = std::mem::take(&mut self.kept);
            let keys = std::mem::take(&mut self.keys);
            let sort = Sort::by_keys(m, self.comparator, (items, keys))?;
            return Ok(Turn::Becomes(Box::new(CallsWork::Sort(sort))));
        }
        self.result(m).map(Turn::done)
    }

    fn result<H: Heap<Term = T>>(&mut self, m: &mut Machine<'_, H>) -> Eval<H> {
        match self.builtin {
            Builtin::Some | Builtin::MinBy | Builtin::MaxBy | Builtin::MinKey | Builtin::MaxKey => {
                Ok(self.found.unwrap_or(m.heap.nil()))
            }
            Builtin::IsEvery | Builtin::IsNotAny => Ok(m.heap.boolean(self.found.is_none())),
            Builtin::IsNotEvery => Ok(m.heap.boolean(self.found.is_some())),
            Builtin::DropWhile => Ok(self.rest),
            Builtin::SplitWith => {
                let first = self.listing.all(m, &self.kept)?;
                Ok(m.make_list(&[first, self.rest])?)
            }
            Builtin::PartitionBy => {
                if !self.kept.is_empty() {
                    self.end_part(m)?;
                    m.meter.advanced();
                }
                Ok(self.listing.all(m, &self.keys)?)
            }
            Builtin::GroupBy => self.map_of_groups(m),
            Builtin::SumBy | Builtin::AvgBy => {
                let sum = match self.builtin {
                    Builtin::SumBy => Builtin::Sum,
                    _ => Builtin::Avg,
                };
                let list = self.listing.all(m, &self.kept)?;
                let summed = seqs::eval(m, sum, &[list]);
                summed.map_err(|halt| of_builtin::<H>(halt, self.builtin))
            }
            _ => Ok(self.listing.all(m, &self.kept)?),
        }
    }

    fn map_of_groups<H: Heap<Term = T>>(&mut self, m: &mut Machine<'_, H>) -> Eval<H> {
        let Some(groups) = &mut self.groups else {
            return Ok(m.heap.nil());
        };
        let lists = (&self.keys, &self.kept);
        let mut rest = self.group_listing.list(m, groups, lists, 0)?;
        let count = groups.len();
        m.count_new_map(count)?;
        let (mut keys, mut values) = (Vec::with_capacity(count), Vec::with_capacity(count));
        while let Some((group, others)) = m.heap.uncons(rest) {
            if let Some((key, items)) = m.heap.uncons(group) {
                keys.push(key);
                values.push(items);
            }
            rest = others;
        }
        Ok(m.heap.make_map(&keys, &values))
    }
}

/// Returns the error of a built-in as one of another built-in, for which the first one has worked.
#[cold]
pub(super) fn of_builtin<H: Heap>(halt: Halt<H>, builtin: Builtin) -> Halt<H> {
    match halt {
        VmHalt::Fault(mut fault) => {
            fault.name = Some(builtin.name().into());
            VmHalt::Fault(fault)
        }
        stop => stop,
    }
}
