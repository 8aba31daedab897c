//! Built-ins that call functions: frames of the machine.
//!
//! * `function`: what is applied, in place or by a call; `looker`: keys that are looked up in one item after another
//! * `each`: a function is applied to each item; `accept`: what becomes of its values; `ends`: the result
//! * `several`: `map` over several sequences; `rests`: what is left of them
//! * `fold`: `reduce`, `reduce-kv`
//! * `sort`: sorting by a kernel, or by questions to a comparator, which `merge` asks
//! * `tree`: `tree-seq`; `walk`: `walk`, `prewalk`, `postwalk`
//! * `update`: `update`, `update-in`; `entries`: `update-vals`, `update-keys`; `merging`: `merge-with`
//! * `thunks`: `pcalls`, one call after another; `workers`: `pmap` and `pcalls` side by side
//! * `start`: which of these a built-in is

mod accept;
mod each;
mod ends;
mod entries;
mod fold;
mod function;
mod looker;
mod merge;
mod merging;
mod rests;
mod several;
mod sort;
mod start;
mod thunks;
mod tree;
mod update;
mod walk;
mod workers;

use crate::code::{Halt, Machine};
use ptc_term::heap::Heap;
use ptc_term::suspend::{Exchange, Rooted};
use ptc_vm::Next;

pub use start::start;

macro_rules! works {
    ($($(#[$doc:meta])* $variant:ident($module:ident),)+) => {
        /// A built-in that has begun.
        #[derive(Debug, Clone, PartialEq)]
        pub enum CallsWork<T> {
            $($(#[$doc])* $variant($module::$variant<T>),)+
        }

        impl<T> Rooted for CallsWork<T> {
            type Term = T;
            type With<U> = CallsWork<U>;

            fn exchange<X: Exchange<T>>(self, by: &mut X) -> Result<CallsWork<X::Into>, X::Lost> {
                Ok(match self {
                    $(CallsWork::$variant(state) => CallsWork::$variant(state.exchange(by)?),)+
                })
            }
        }

        /// Takes the next step, with the value of the function that it has called; none at the start.
        pub fn step<H: Heap>(
            m: &mut Machine<'_, H>,
            work: &mut CallsWork<H::Term>,
            returned: Option<H::Term>,
        ) -> Result<Next<H::Term>, Halt<H>> {
            let mut returned = returned;
            loop {
                let turn = match work {
                    $(CallsWork::$variant(state) => state.step(m, returned.take())?,)+
                };
                match turn {
                    Turn::Next(next) => return Ok(next),
                    Turn::Becomes(next) => *work = *next,
                }
            }
        }
    };
}

works! {
    /// A function is applied to each item.
    Each(each),
    /// `map` over several sequences.
    Several(several),
    /// `reduce`, `reduce-kv`
    Fold(fold),
    /// Sorting.
    Sort(sort),
    /// `tree-seq`
    Tree(tree),
    /// `walk`, `prewalk`, `postwalk`
    Walk(walk),
    /// `update`, `update-in`
    Update(update),
    /// `update-vals`, `update-keys`
    Entries(entries),
    /// `merge-with`
    Merging(merging),
    /// `pcalls`
    Thunks(thunks),
    /// `pmap`, `pcalls`: side by side.
    Workers(workers),
}

/// Why a built-in has no value.
type Refusal<T> = ptc_vm::Halt<crate::fault::Fault<T>>;

/// What a state does next. A step that is stopped is taken again with the same value, so each state knows whether it waits for
/// one.
pub(crate) enum Turn<T> {
    /// It ends, or calls a function.
    Next(Next<T>),
    /// Another state goes on.
    Becomes(Box<CallsWork<T>>),
}

impl<T> Turn<T> {
    fn done(value: T) -> Self {
        Turn::Next(Next::Done(value))
    }
}
