//! Walking the lists of operations, and making new ones.

use super::super::frame::{Walk, Work};
use super::{Eval, Machine, LIST_BATCH};
use crate::fault::Halt;
use crate::language::Language;
use crate::program::Apply;
use ptc_term::heap::Heap;

impl<H: Heap> Machine<'_, H> {
    /// Returns whether this is a proper list. Can be suspended and resumed.
    pub fn is_proper_list(&mut self, list: H::Term) -> Result<bool, Halt<H::Term>> {
        self.resumable_over(list, |machine, work| {
            machine.walk_to_end(&mut work.walk.rest)
        })
    }

    /// Walks to the end of a list; returns whether the list is proper.
    pub(crate) fn walk_to_end(&mut self, rest: &mut H::Term) -> Result<bool, Halt<H::Term>> {
        while let Some((_, tail)) = self.heap.uncons(*rest) {
            self.consume_fuel(1)?;
            *rest = tail;
            self.meter.advanced();
        }
        Ok(self.heap.is_empty_list(*rest))
    }

    /// Passes the remaining items of the operation's current value, which must be a proper list, to
    /// `visit`.
    ///
    /// An error that `visit` finds counts only if the list is proper; then `visit` receives the item
    /// again. If `visit` halts, its state must be as if it had not received the item.
    #[inline]
    pub fn each_item<L: Language>(
        &mut self,
        apply: &Apply<L>,
        walk: &mut Walk<H::Term>,
        mut visit: impl FnMut(&mut Self, H::Term) -> Result<(), Halt<H::Term>>,
    ) -> Result<(), Halt<H::Term>> {
        if walk.ended_at.is_none() {
            while let Some((item, tail)) = self.heap.uncons(walk.rest) {
                self.consume_fuel(1)?;
                match visit(self, item) {
                    Ok(()) => {}
                    Err(Halt::Fault(_)) => walk.ended_at = Some(item),
                    Err(halt) => return Err(halt),
                }
                walk.rest = tail;
                self.meter.advanced();
                if walk.ended_at.is_some() {
                    break;
                }
            }
        }
        match walk.ended_at {
            None if self.heap.is_empty_list(walk.rest) => Ok(()),
            Some(item) if self.walk_to_end(&mut walk.rest)? => visit(self, item),
            _ => Err(self.not_a_list(apply.op, self.slot(apply.input))),
        }
    }

    /// Makes the operation's value: the items of the work as a list, if the heap limit permits.
    pub fn list_of(&mut self, work: &mut Work<H::Term>) -> Eval<H> {
        self.list_of_places(work, None)
    }

    /// Same as `list_of`, with the items at the indices in `place`.
    fn list_of_places(&mut self, work: &mut Work<H::Term>, place: Option<&[u32]>) -> Eval<H> {
        let mut list = match work.made {
            Some(list) => list,
            None => {
                work.missing = place.map_or(work.items.len(), <[u32]>::len);
                self.heap.make_list(&[])
            }
        };
        let mut missing = work.missing;
        self.check_heap_limit(2 * missing)?;
        while missing > 0 {
            let first = missing.saturating_sub(LIST_BATCH);
            self.consume_fuel(missing - first)?;
            list = match (place, work.items.live(first..missing)) {
                (None, Some(items)) => self.heap.make_list_onto(items, list),
                _ => {
                    let place = |index| place.map_or(index, |places| places[index] as usize);
                    let item = |index| work.items.get(self.heap, place(index));
                    let items: Vec<_> = (first..missing).map(item).collect();
                    self.heap.make_list_onto(&items, list)
                }
            };
            missing = first;
            (work.made, work.missing) = (Some(list), missing);
            self.meter.advanced();
        }
        Ok(list)
    }

    /// Same as `list_of`, with the items in sorted order.
    pub fn list_in_order(&mut self, work: &mut Work<H::Term>) -> Eval<H> {
        let sorting = work.progress.sorting.take().unwrap_or_default();
        let list = self.list_of_places(work, Some(sorting.places()));
        work.progress.sorting = Some(sorting);
        list
    }

    /// Makes a proper list, if the heap limit permits.
    pub fn make_list(&mut self, items: &[H::Term]) -> Eval<H> {
        self.check_heap_limit(2 * items.len())?;
        Ok(self.heap.make_list(items))
    }
}
