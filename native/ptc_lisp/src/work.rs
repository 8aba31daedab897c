//! The states of evaluations that have begun.

use crate::exec::states::{Converting, Spreading};
use crate::families::flow::Flow;
use crate::families::{calls, functions, numbers, states, strings};
use ptc_kernels::SortedEntries;
use ptc_term::suspend::{Exchange, Rooted};
use ptc_vm::Resumable;

macro_rules! works {
    ($($(#[$doc:meta])* $variant:ident($state:ty),)+) => {
        /// The state of an evaluation that has begun: one kind for each family.
        #[derive(Debug, Clone, PartialEq)]
        pub enum Work<T> {
            $($(#[$doc])* $variant(Box<$state>),)+
        }

        impl<T> Rooted for Work<T> {
            type Term = T;
            type With<U> = Work<U>;

            fn exchange<X: Exchange<T>>(self, by: &mut X) -> Result<Work<X::Into>, X::Lost> {
                Ok(match self {
                    $(Work::$variant(state) => Work::$variant(state.exchange(by)?),)+
                })
            }
        }

        $(
            impl<T> From<$state> for Work<T> {
                fn from(state: $state) -> Self {
                    Work::$variant(Box::new(state))
                }
            }

            impl<T> Resumable<Work<T>> for $state {
                fn of_work(work: Work<T>) -> Option<Self> {
                    match work {
                        Work::$variant(state) => Some(*state),
                        _ => None,
                    }
                }
            }
        )+
    };
}

works! {
    /// A built-in that calls functions.
    Calls(calls::CallsWork<T>),
    /// A function that `comp`, `juxt`, … made.
    Functions(functions::MadeWork<T>),
    /// Arithmetic with many operands.
    Numbers(numbers::NumbersWork<T>),
    /// Sequences, maps, sets, or comparisons.
    Flow(Flow<T>),
    /// A text.
    Strings(strings::TextWork<T>),
    /// The entries of a map.
    Entries(SortedEntries<T>),
    /// A map whose lists grow.
    Gathering(states::Gathering<T>),
    /// A value on its way out of the run, or to a tool.
    Converting(Converting<T>),
    /// Arguments that a collection gives.
    Spreading(Spreading<T>),
}
