//! Where a coercion is inside of its value.

use super::super::read::Read;
use super::super::shape::Opened;
use crate::raw::{Raw, Terms};
use ptc_core::signature::{Fields, TypeId};

/// Where the walk is inside of a value, outermost first.
pub(super) enum Frame<'a> {
    List(ListFrame<'a>),
    Map(MapFrame<'a>),
}

#[derive(Clone, Copy)]
pub(super) struct ListFrame<'a> {
    pub(super) value: Raw<'a>,
    pub(super) id: TypeId,
    pub(super) holds: TypeId,
    /// The element that the walk is at, and what follows.
    pub(super) current: Raw<'a>,
    pub(super) rest: Raw<'a>,
    pub(super) taken: i64,
    pub(super) before: Before,
    /// Since an element changed, all elements so far stand among the outputs.
    pub(super) changed: bool,
    /// The outputs up to the last change, and what follows it.
    pub(super) kept: usize,
    pub(super) tail: Raw<'a>,
}

#[derive(Clone, Copy)]
pub(super) struct MapFrame<'a> {
    pub(super) value: Raw<'a>,
    pub(super) id: TypeId,
    pub(super) map: Opened<'a>,
    pub(super) fields: Fields,
    pub(super) closed: bool,
    /// The next field.
    pub(super) next: usize,
    pub(super) before: Before,
    /// Of a small map: since a field changed, all values stand among the outputs.
    pub(super) changed: bool,
}

/// How things stood when a value was entered.
#[derive(Clone, Copy)]
pub(super) struct Before {
    pub(super) outputs: usize,
    pub(super) budget: i64,
    pub(super) errors: usize,
    pub(super) warnings: usize,
    pub(super) asked: usize,
}

/// The way to where the walk is, innermost first.
pub(super) fn path<'s, 'a: 's>(
    terms: Terms<'a>,
    read: &'s Read<'a>,
    stack: &'s [Frame<'a>],
    name: Option<Raw<'a>>,
) -> impl Iterator<Item = Raw<'a>> + 's {
    let segment = move |frame: &Frame<'a>| match frame {
        Frame::List(list) => terms.make_integer(list.taken - 1),
        Frame::Map(map) => read.names[map.next - 1],
    };
    name.into_iter().chain(stack.iter().rev().map(segment))
}
