//! The item of a list whose key is first in an order.

use crate::context::Context;
use crate::keyed::{advance, ItemKeys, Keying};
use crate::wrong::Early;
use ptc_term::heap::{Heap, Kind};
use ptc_term::suspend::{Exchange, Rooted};
use std::cmp::Ordering;

/// An item and its key.
pub type Extreme<T> = (T, T);

/// The best item so far, and its key.
#[derive(Debug, Clone, PartialEq)]
pub struct Best<T> {
    keying: Keying<T>,
    best: Option<Extreme<T>>,
}

impl<T> Rooted for Best<T> {
    type Term = T;
    type With<U> = Best<U>;

    fn exchange<X: Exchange<T>>(self, by: &mut X) -> Result<Best<X::Into>, X::Lost> {
        Ok(Best {
            keying: self.keying.exchange(by)?,
            best: match self.best {
                None => None,
                Some((item, key)) => Some((by.term(item)?, by.term(key)?)),
            },
        })
    }
}

impl<T: Copy> Best<T> {
    /// Returns the start.
    pub fn over(items: T) -> Self {
        Best {
            keying: Keying::over(items),
            best: None,
        }
    }

    /// Returns the item whose key compares `better` with all others, with that key; of equal ones the first. Items whose key is
    /// nil do not count.
    pub fn find<H: Heap<Term = T>>(
        &mut self,
        context: &mut Context<'_, H>,
        (list, by): (T, ItemKeys<T>),
        better: Ordering,
    ) -> Result<Option<Extreme<T>>, Early<T>> {
        self.keying.begin(context, (list, by))?;
        let Best { keying, best } = self;
        let (kinds, computed) = (&keying.kinds, &mut keying.computed);
        context.each_item_of(list, &mut keying.walk, |context, item| {
            let keyed = context.key_of(by, *computed, item)?;
            let value = keyed.0;
            let is_better = match best {
                _ if context.heap.kind(value) == Kind::Nil => false,
                None => true,
                Some((_, least)) => match kinds.is_empty() {
                    true => context.compare(value, *least)? == better,
                    false => context.compare_among(kinds, value, *least)? == better,
                },
            };
            if is_better {
                *best = Some((item, value));
            }
            advance(computed, keyed);
            Ok(())
        })?;
        Ok(*best)
    }
}
