//! The items of a list without repetitions, or the first one of each key.

use crate::context::{Context, KEPT_BETWEEN_CHECKS};
use crate::keyed::{advance, ItemKeys, Keying};
use crate::lists::Listing;
use crate::table::Table;
use crate::wrong::Worked;
use ptc_term::heap::Heap;
use ptc_term::rooted;
use ptc_term::roots::Roots;

/// The different items, or the first ones of the different keys.
#[derive(Debug, Clone, PartialEq)]
pub struct Distinction<T> {
    keying: Keying<T>,
    items: Roots<T>,
    /// The keys in the table, if the items are not keys themselves.
    keys: Roots<T>,
    table: Table,
    listing: Listing<T>,
}

rooted!(Distinction { states: keying, items, keys, listing; plain: table });

impl<T: Copy> Distinction<T> {
    /// Returns the start.
    pub fn over(items: T) -> Self {
        Distinction {
            keying: Keying::over(items),
            items: Roots::default(),
            keys: Roots::default(),
            table: Table::default(),
            listing: Listing::default(),
        }
    }

    /// Makes the list of the first item of each key.
    pub fn list<H: Heap<Term = T>>(
        &mut self,
        context: &mut Context<'_, H>,
        (list, by): (T, ItemKeys<T>),
    ) -> Worked<H> {
        self.keying.begin(context, (list, by))?;
        let Distinction {
            keying,
            items,
            keys,
            table,
            listing,
        } = self;
        let (kinds, computed) = (&keying.kinds, &mut keying.computed);
        if by_itself(by) {
            context.each_item_of(list, &mut keying.walk, |context, item| {
                context.consume_fuel_to_hash(item)?;
                table.insert(context, kinds, items, item)?;
                Ok(())
            })?;
            return Ok(listing.all(context, items)?);
        }
        context.each_item_of(list, &mut keying.walk, |context, item| {
            let keyed = context.key_of(by, *computed, item)?;
            context.consume_fuel_to_hash(keyed.0)?;
            let before = keys.len();
            if before % KEPT_BETWEEN_CHECKS == 0 {
                context.check_heap_limit(table.words() + 2 * before)?;
            }
            table.insert(context, kinds, keys, keyed.0)?;
            if keys.len() > before {
                items.push(item);
            }
            advance(computed, keyed);
            Ok(())
        })?;
        Ok(listing.all(context, items)?)
    }
}

fn by_itself<T>(by: ItemKeys<T>) -> bool {
    matches!(by, ItemKeys::Items)
}
