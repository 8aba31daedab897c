//! The built-ins that have called a function and wait for its value.
//!
//! The state of one that calls a function for each of many items is used at each call. So the states of the innermost ones
//! stay as they are, and only what lies deeper is frozen. A deep recursion through built-ins that is suspended often then
//! costs no more than one that is not.

use crate::language::{Language, WorkTerms};
use crate::stack::Stack;
use ptc_term::heap::Heap;
use ptc_term::suspend::{freeze, thaw, Exchange, Rooted};

/// Number of states that stay as they are. Inner built-ins begin and end while an outer one calls, so one is not enough.
const AT_HAND: usize = 8;

/// The states of built-ins that wait: `W` is one with its terms, `F` a frozen one.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct BuiltIns<W, F, T> {
    /// The innermost ones, innermost last.
    at_hand: Vec<W>,
    /// The others, innermost last, each with the number of its terms.
    frozen: Vec<(F, u32)>,
    /// The terms of the frozen ones.
    terms: Option<Stack<T>>,
}

/// The states of a language's built-ins.
pub(crate) type BuiltInsOf<L, T> = BuiltIns<<L as Language>::Work<T>, <L as Language>::Work<()>, T>;

impl<W, F, T> Default for BuiltIns<W, F, T> {
    fn default() -> Self {
        BuiltIns {
            at_hand: Vec::new(),
            frozen: Vec::new(),
            terms: None,
        }
    }
}

impl<W, F, T: Copy> BuiltIns<W, F, T> {
    /// Returns the words of the terms of those that are frozen.
    pub fn words(&self) -> usize {
        self.terms.as_ref().map_or(0, Stack::words)
    }

    /// Returns whether terms were read that are not those of a state.
    pub fn is_broken(&self) -> bool {
        self.terms.as_ref().is_some_and(Stack::is_broken)
    }
}

/// Exchanges the terms of all states.
#[inline]
pub(crate) fn exchange<L: Language, T: Copy, X: Exchange<T>>(
    all: BuiltInsOf<L, T>,
    by: &mut X,
) -> Result<BuiltInsOf<L, X::Into>, X::Lost> {
    let mut at_hand = Vec::with_capacity(all.at_hand.len());
    for work in all.at_hand {
        at_hand.push(L::exchange_work(work, by)?);
    }
    Ok(BuiltIns {
        at_hand,
        frozen: all.frozen,
        terms: all.terms.exchange(by)?,
    })
}

/// Adds the state of the innermost built-in.
#[inline]
pub(crate) fn push<L: Language, H: Heap>(
    all: &mut BuiltInsOf<L, H::Term>,
    work: L::Work<H::Term>,
    heap: &mut H,
) {
    if all.at_hand.len() == AT_HAND {
        freeze_outermost::<L, H>(all, heap);
    }
    all.at_hand.push(work);
}

#[cold]
fn freeze_outermost<L: Language, H: Heap>(all: &mut BuiltInsOf<L, H::Term>, heap: &mut H) {
    let mut terms = Vec::new();
    let work = WorkTerms::<L, H::Term>(all.at_hand.remove(0));
    let WorkTerms(work) = freeze(work, heap, &mut terms);
    all.frozen.push((work, terms.len() as u32));
    let stack = all
        .terms
        .get_or_insert_with(|| Stack::new(heap.make_list(&[])));
    terms.into_iter().for_each(|term| stack.push(term));
}

/// Removes the state of the innermost built-in. `None` if there is none, or if its terms are not those that it had.
#[inline]
pub(crate) fn pop<L: Language, H: Heap>(
    all: &mut BuiltInsOf<L, H::Term>,
    heap: &H,
) -> Option<L::Work<H::Term>> {
    match all.at_hand.pop() {
        Some(work) => Some(work),
        None => thaw_innermost::<L, H>(all, heap),
    }
}

#[cold]
fn thaw_innermost<L: Language, H: Heap>(
    all: &mut BuiltInsOf<L, H::Term>,
    heap: &H,
) -> Option<L::Work<H::Term>> {
    let (work, count) = all.frozen.pop()?;
    let stack = all.terms.as_mut()?;
    let terms = stack.top(count as usize, heap).to_vec();
    stack.drop_top(count as usize, heap);
    let work = WorkTerms::<L, ()>(work);
    thaw(work, heap, &mut terms.into_iter()).map(|WorkTerms(work)| work)
}
