//! Lists made of a list's items in another arrangement: flat, and in chunks.

use crate::context::{Context, KEPT_BETWEEN_CHECKS};
use crate::lists::{Listing, Walk};
use crate::wrong::{Why, Worked, Wrong};
use ptc_term::heap::{Heap, Kind};
use ptc_term::rooted;
use ptc_term::roots::Roots;

/// The items of the lists so far.
#[derive(Debug, Clone, PartialEq)]
pub struct Flattening<T> {
    rest: T,
    /// How far the next item is known to be a proper list.
    proper: Option<T>,
    /// The items of the list inside that are not visited yet.
    inside: Option<T>,
    items: Roots<T>,
    listing: Listing<T>,
}

rooted!(Flattening { terms: rest; optional: proper, inside; states: items, listing; plain: });

impl<T> Flattening<T> {
    /// Returns the start.
    pub fn of(lists: T) -> Self {
        Flattening {
            rest: lists,
            proper: None,
            inside: None,
            items: Roots::default(),
            listing: Listing::default(),
        }
    }
}

/// Makes the list of a list's items, and of the items of those that are lists; with `all_proper` all items are proper lists.
pub fn flattened<H: Heap>(
    context: &mut Context<'_, H>,
    list: H::Term,
    work: &mut Flattening<H::Term>,
    all_proper: bool,
) -> Worked<H> {
    loop {
        while let Some(rest) = work.inside {
            context.consume_fuel(1)?;
            work.inside = match context.heap.uncons(rest) {
                Some((item, tail)) => {
                    context.check_room(work.items.len())?;
                    work.items.push(item);
                    Some(tail)
                }
                None => None,
            };
            context.meter.advanced();
        }
        let Some((item, tail)) = context.heap.uncons(work.rest) else {
            break;
        };
        context.consume_fuel(1)?;
        let is_list = all_proper || context.heap.kind(item) == Kind::List;
        let proper = &mut work.proper;
        if is_list && (all_proper || context.walk_to_end(proper.get_or_insert(item))?) {
            work.inside = Some(item);
        } else {
            context.check_room(work.items.len())?;
            work.items.push(item);
        }
        (work.proper, work.rest) = (None, tail);
        context.meter.advanced();
    }
    match context.heap.is_empty_list(work.rest) {
        true => Ok(work.listing.all(context, &work.items)?),
        false => Err(Wrong::of(Why::NotAList, list).into()),
    }
}

/// The lists that are made, and the items of the next one.
#[derive(Debug, Clone, PartialEq)]
pub struct Chunks<T> {
    walk: Walk<T>,
    items: Roots<T>,
    lists: Roots<T>,
    is_over: bool,
    /// The list that is being made: one of items, or that of all lists.
    listing: Listing<T>,
}

rooted!(Chunks { states: walk, items, lists, listing; plain: is_over });

impl<T> Chunks<T> {
    /// Returns the start.
    pub fn of(list: T) -> Self {
        Chunks {
            walk: Walk::over(list),
            items: Roots::default(),
            lists: Roots::default(),
            is_over: false,
            listing: Listing::default(),
        }
    }
}

/// Makes the list of the lists of so many items; the last one may be shorter.
pub fn chunked<H: Heap>(
    context: &mut Context<'_, H>,
    list: H::Term,
    work: &mut Chunks<H::Term>,
    size: usize,
) -> Worked<H> {
    loop {
        if work.is_over {
            return Ok(work.listing.all(context, &work.lists)?);
        }
        let (items, lists) = (&mut work.items, work.lists.len());
        // A list that is full is made when its last item has been visited.
        while items.len() < size {
            let Some((item, tail)) = context.heap.uncons(work.walk.rest) else {
                break;
            };
            context.consume_fuel(1)?;
            if (items.len() + lists) % KEPT_BETWEEN_CHECKS == 0 {
                context.check_heap_limit(2 * (items.len() + lists))?;
            }
            items.push(item);
            work.walk.rest = tail;
            context.meter.advanced();
        }
        if items.is_empty() {
            context.each_item_of(list, &mut work.walk, |_, _| Ok(()))?;
            work.is_over = true;
        } else {
            let list = work.listing.all(context, &work.items)?;
            work.lists.push(list);
            work.items.truncate(0, context.heap);
            work.listing = Listing::default();
        }
        context.meter.advanced();
    }
}
