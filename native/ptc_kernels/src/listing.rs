//! The list of groups, made in pieces.

use crate::context::{ConstId, Context, Made};
use crate::groups::Groups;
use ptc_term::heap::Heap;
use ptc_term::roots::Roots;
use ptc_term::suspend::{Exchange, Rooted};

/// Number of items of a group that are put into its list at once.
const BATCH: usize = 4_096;

/// The list of the groups while it is made from its end.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupListing<T> {
    made: Option<T>,
    /// The end of the list of the items of the current group.
    items: Option<T>,
    /// Number of groups that are not in the list yet.
    groups: usize,
    /// Number of items that are in no list yet.
    missing: usize,
}

impl<T> Default for GroupListing<T> {
    fn default() -> Self {
        GroupListing {
            made: None,
            items: None,
            groups: 0,
            missing: 0,
        }
    }
}

impl<T> Rooted for GroupListing<T> {
    type Term = T;
    type With<U> = GroupListing<U>;

    fn exchange<X: Exchange<T>>(self, by: &mut X) -> Result<GroupListing<X::Into>, X::Lost> {
        Ok(GroupListing {
            made: by.optional(self.made)?,
            items: by.optional(self.items)?,
            groups: self.groups,
            missing: self.missing,
        })
    }
}

impl<T: Copy> GroupListing<T> {
    /// Returns whether a part of the list is made.
    pub fn has_begun(&self) -> bool {
        self.made.is_some()
    }

    /// Makes the list of the groups, each a cell of its key and the list of its items. The key of a group with several keys
    /// is the tuple of these; `fields` is the first of their names. Can be suspended, once all items are added.
    pub fn list<H: Heap<Term = T>>(
        &mut self,
        context: &mut Context<'_, H>,
        groups: &mut Groups,
        (keys, items): (&Roots<T>, &Roots<T>),
        fields: ConstId,
    ) -> Made<H> {
        groups.arrange(context, keys)?;
        let mut list = match self.made {
            Some(list) => list,
            None => {
                (self.missing, self.groups) = (groups.order.len(), groups.len());
                context.heap.make_list(&[])
            }
        };
        self.made = Some(list);
        while let Some(entry) = self.groups.checked_sub(1) {
            context.consume_fuel(1)?;
            if !groups.is_group(entry) {
                self.groups = entry;
                continue;
            }
            let start = groups.next[entry] as usize - groups.size(entry) as usize;
            let mut of_group = match self.items {
                Some(items) => items,
                None => context.heap.make_list(&[]),
            };
            while self.missing > start {
                let first = start.max(self.missing.saturating_sub(BATCH));
                let count = self.missing - first;
                context.check_heap_limit(2 * count)?;
                context.consume_fuel(count)?;
                let heap = &mut *context.heap;
                let members = groups.order[first..self.missing].iter();
                let members: Vec<_> = members
                    .map(|item| items.get(heap, *item as usize))
                    .collect();
                of_group = heap.make_list_onto(&members, of_group);
                (self.items, self.missing) = (Some(of_group), first);
                context.meter.advanced();
            }
            let mut own_keys = Vec::with_capacity(groups.keys());
            context.consume_fuel(groups.keys())?;
            context.check_heap_limit(groups.keys() + 5)?;
            match context.heap.uncons(of_group) {
                Some((first, _)) if groups.varied => {
                    for field in (fields..).take(groups.keys()) {
                        own_keys.push(context.value_or_nil(first, field)?);
                    }
                }
                _ => groups.keys_of(context.heap, keys, entry, &mut own_keys),
            }
            let key = match *own_keys {
                [key] => key,
                _ => context.heap.make_tuple(&own_keys),
            };
            let group = context.heap.make_list_onto(&[key], of_group);
            list = context.heap.make_list_onto(&[group], list);
            (self.made, self.items, self.groups) = (Some(list), None, entry);
            context.meter.advanced();
        }
        Ok(list)
    }
}
