//! The keys of a list's items: the items themselves, a field of each, or a list of computed keys.

use crate::context::{ConstId, Context};
use crate::kinds::Kinds;
use crate::lists::Walk;
use ptc_term::heap::Heap;
use ptc_term::rooted;
use ptc_term::stop::Stop;

/// Where the keys of the items are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ItemKeys<T> {
    /// An item is its own key.
    Items,
    /// In this field of each item.
    Field(ConstId),
    /// In this list, in the order of the items.
    List(T),
}

/// An item's key, and the keys of the items after it if they are in a list.
pub type Keyed<T> = (T, Option<T>);

/// A walk over items with keys.
#[derive(Debug, Clone, PartialEq)]
pub struct Keying<T> {
    pub(crate) walk: Walk<T>,
    /// The keys of the items that are not visited yet, if they are in a list.
    pub(crate) computed: Option<T>,
    /// Whether the search for values has begun, and whether it has ended.
    begun: bool,
    searched: bool,
    pub(crate) kinds: Kinds,
}

rooted!(Keying { optional: computed; states: walk; plain: begun, searched, kinds });

impl<T: Copy> Keying<T> {
    /// Returns the start of a walk.
    pub fn over(items: T) -> Self {
        Keying {
            walk: Walk::over(items),
            computed: None,
            begun: false,
            searched: false,
            kinds: Kinds::default(),
        }
    }

    /// Begins to read the keys: before the first item is visited.
    pub(crate) fn begin<H: Heap<Term = T>>(
        &mut self,
        context: &mut Context<'_, H>,
        (items, by): (T, ItemKeys<T>),
    ) -> Result<(), Stop> {
        if let (None, ItemKeys::List(keys)) = (self.computed, by) {
            self.computed = Some(keys);
        }
        if context.values() && !self.searched {
            self.search(context, by)?;
            self.walk.rest = items;
            self.searched = true;
        }
        Ok(())
    }

    /// Searches the keys for values.
    fn search<H: Heap<Term = T>>(
        &mut self,
        context: &mut Context<'_, H>,
        by: ItemKeys<T>,
    ) -> Result<(), Stop> {
        let rest = &mut self.walk.rest;
        match self.computed {
            Some(keys) => {
                if !self.begun {
                    (*rest, self.begun) = (keys, true);
                }
                context.search_items(rest, &mut self.kinds, |_, key| Ok(key))
            }
            None => context.search_items(rest, &mut self.kinds, |context, item| {
                context.key_of(by, None, item).map(|(key, _)| key)
            }),
        }
    }
}

impl<H: Heap> Context<'_, H> {
    /// Returns the key of an item. `keys`: the list of its key and of the keys after it, if they are in a list.
    #[inline]
    pub fn key_of(
        &mut self,
        by: ItemKeys<H::Term>,
        keys: Option<H::Term>,
        item: H::Term,
    ) -> Result<Keyed<H::Term>, Stop> {
        Ok(match (keys, by) {
            (Some(keys), _) => match self.heap.uncons(keys) {
                Some((key, rest)) => (key, Some(rest)),
                None => (self.heap.nil(), Some(keys)),
            },
            (None, ItemKeys::Field(field)) => (self.value_or_nil(item, field)?, None),
            (None, ItemKeys::Items | ItemKeys::List(_)) => (item, None),
        })
    }
}

/// Goes on to the next key.
#[inline]
pub fn advance<T>(computed: &mut Option<T>, (_, rest): Keyed<T>) {
    if rest.is_some() {
        *computed = rest;
    }
}
