//! Walking lists, and making new ones, in pieces.

use crate::context::{Context, Made, KEPT_BETWEEN_CHECKS, LIST_BATCH};
use crate::wrong::{Early, Why, Wrong};
use ptc_term::heap::Heap;
use ptc_term::roots::Roots;
use ptc_term::stop::Stop;
use ptc_term::suspend::{Exchange, Rooted};
use std::ops::DerefMut;

/// A walk over a list.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Walk<T> {
    /// The items not visited yet.
    pub rest: T,
    /// The item at which the walk has ended: one that is invalid, or that was searched for. It counts only if the list
    /// turns out to be proper.
    pub ended_at: Option<T>,
}

impl<T> Rooted for Walk<T> {
    type Term = T;
    type With<U> = Walk<U>;

    #[inline(always)]
    fn exchange<X: Exchange<T>>(self, by: &mut X) -> Result<Walk<X::Into>, X::Lost> {
        Ok(Walk {
            rest: by.term(self.rest)?,
            ended_at: by.optional(self.ended_at)?,
        })
    }
}

impl<T> Walk<T> {
    /// Returns the start of a walk.
    #[inline]
    pub fn over(list: T) -> Self {
        Walk {
            rest: list,
            ended_at: None,
        }
    }
}

/// A new list while it is made from its end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Listing<T> {
    /// Its end, as far as it is made.
    made: Option<T>,
    /// Number of items that are missing at its start.
    missing: usize,
}

impl<T> Default for Listing<T> {
    fn default() -> Self {
        Listing {
            made: None,
            missing: 0,
        }
    }
}

impl<T> Rooted for Listing<T> {
    type Term = T;
    type With<U> = Listing<U>;

    fn exchange<X: Exchange<T>>(self, by: &mut X) -> Result<Listing<X::Into>, X::Lost> {
        Ok(Listing {
            made: by.optional(self.made)?,
            missing: self.missing,
        })
    }
}

impl<T: Copy> Listing<T> {
    /// Returns whether a part of the list is made.
    pub fn has_begun(&self) -> bool {
        self.made.is_some()
    }

    /// Begins a list of so many items that goes on with another list.
    pub fn onto(list: T, items: usize) -> Self {
        Listing {
            made: Some(list),
            missing: items,
        }
    }

    /// Makes the list of these items, if the heap limit permits.
    pub fn all<H: Heap<Term = T>>(
        &mut self,
        context: &mut Context<'_, H>,
        items: &Roots<T>,
    ) -> Made<H> {
        self.at_places(context, items, None)
    }

    /// Makes the list of the items at these places.
    pub fn at_places<H: Heap<Term = T>>(
        &mut self,
        context: &mut Context<'_, H>,
        items: &Roots<T>,
        places: Option<&[u32]>,
    ) -> Made<H> {
        let mut list = match self.made {
            Some(list) => list,
            None => {
                self.missing = places.map_or(items.len(), <[u32]>::len);
                context.heap.make_list(&[])
            }
        };
        context.check_heap_limit(2 * self.missing)?;
        while self.missing > 0 {
            let first = self.missing.saturating_sub(LIST_BATCH);
            context.consume_fuel(self.missing - first)?;
            list = match (places, items.live(first..self.missing)) {
                (None, Some(items)) => context.heap.make_list_onto(items, list),
                _ => {
                    let place = |index| places.map_or(index, |places| places[index] as usize);
                    let item = |index| items.get(context.heap, place(index));
                    let items: Vec<_> = (first..self.missing).map(item).collect();
                    context.heap.make_list_onto(&items, list)
                }
            };
            (self.made, self.missing) = (Some(list), first);
            context.meter.advanced();
        }
        Ok(list)
    }
}

/// Passes the remaining items of a list to `visit`; returns whether the list is proper.
///
/// An error that `visit` finds counts only if the list is proper; then `visit` receives the item again. If `visit` is
/// stopped, its state must be as if it had not received the item.
#[inline]
pub fn each_item<'h, H: Heap + 'h, C: DerefMut<Target = Context<'h, H>>, E: From<Stop>>(
    context: &mut C,
    walk: &mut Walk<H::Term>,
    mut visit: impl FnMut(&mut C, H::Term) -> Result<(), E>,
    is_error: impl Fn(&E) -> bool,
) -> Result<bool, E> {
    if walk.ended_at.is_none() {
        while let Some((item, tail)) = context.heap.uncons(walk.rest) {
            context.consume_fuel(1)?;
            match visit(context, item) {
                Ok(()) => {}
                Err(end) if is_error(&end) => walk.ended_at = Some(item),
                Err(stop) => return Err(stop),
            }
            walk.rest = tail;
            context.meter.advanced();
            if walk.ended_at.is_some() {
                break;
            }
        }
    }
    match walk.ended_at {
        None => Ok(context.heap.is_empty_list(walk.rest)),
        Some(item) if context.walk_to_end(&mut walk.rest)? => visit(context, item).map(|()| true),
        Some(_) => Ok(false),
    }
}

impl<H: Heap> Context<'_, H> {
    /// Passes the remaining items of a list to `visit`, see [`each_item`].
    #[inline]
    pub fn each_item_of(
        &mut self,
        list: H::Term,
        walk: &mut Walk<H::Term>,
        mut visit: impl FnMut(&mut Self, H::Term) -> Result<(), Early<H::Term>>,
    ) -> Result<(), Early<H::Term>> {
        let visit = |context: &mut &mut Self, item| visit(context, item);
        let is_error = |end: &_| !matches!(end, Early::Stop(_));
        match each_item(&mut { self }, walk, visit, is_error)? {
            true => Ok(()),
            false => Err(Wrong::of(Why::NotAList, list).into()),
        }
    }

    /// Checks, now and then, that a list of so many items may be made.
    #[inline]
    pub(crate) fn check_room(&self, items: usize) -> Result<(), Stop> {
        match items % KEPT_BETWEEN_CHECKS {
            0 => self.check_heap_limit(2 * items),
            _ => Ok(()),
        }
    }

    /// Walks to the end of a list; returns whether the list is proper.
    pub fn walk_to_end(&mut self, rest: &mut H::Term) -> Result<bool, Stop> {
        while let Some((_, tail)) = self.heap.uncons(*rest) {
            self.consume_fuel(1)?;
            *rest = tail;
            self.meter.advanced();
        }
        Ok(self.heap.is_empty_list(*rest))
    }

    /// Makes a proper list, if the heap limit permits.
    pub fn make_list(&mut self, items: &[H::Term]) -> Made<H> {
        self.check_heap_limit(2 * items.len())?;
        Ok(self.heap.make_list(items))
    }
}
