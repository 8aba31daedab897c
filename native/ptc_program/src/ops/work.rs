//! The states of evaluations that have begun: one kind for each operation, or for each family that has one algorithm.

use super::keeping::Keeping;
use super::{
    arrange, combine, entries, grouping, membership, position, range, select, sieve, sort, tally,
    text,
};
use ptc_term::suspend::{Exchange, One, Rooted};
use ptc_vm::Resumable;

macro_rules! works {
    ($($kind:ident: $($state:ident)::+,)+) => {
        /// The state of an evaluation that has begun.
        #[derive(Debug, Clone, PartialEq)]
        pub enum Work<T> {
            $(#[doc = concat!("See `", stringify!($($state)::+), "`.")] $kind(Box<$($state)::+<T>>),)+
        }

        impl<T> Rooted for Work<T> {
            type Term = T;
            type With<U> = Work<U>;

            fn exchange<X: Exchange<T>>(self, by: &mut X) -> Result<Work<X::Into>, X::Lost> {
                Ok(match self { $(Work::$kind(state) => Work::$kind(state.exchange(by)?),)+ })
            }
        }

        $(
            impl<T> From<$($state)::+<T>> for Work<T> {
                fn from(state: $($state)::+<T>) -> Self {
                    Work::$kind(Box::new(state))
                }
            }

            impl<T> Resumable<Work<T>> for $($state)::+<T> {
                fn of_work(work: Work<T>) -> Option<Self> {
                    match work {
                        Work::$kind(state) => Some(*state),
                        _ => None,
                    }
                }
            }
        )+
    };
}

works! {
    Keeping: Keeping,
    Member: One,
    Position: position::Position,
    Concat: combine::Concatenation,
    Zip: combine::Zipping,
    Select: select::Selection,
    Entries: ptc_kernels::SortedEntries,
    NewMap: entries::NewMap,
    Distinct: ptc_kernels::Distinction,
    Extreme: ptc_kernels::Best,
    Sort: sort::Sort,
    FilterIn: membership::Members,
    Join: ptc_kernels::Joining,
    Groups: grouping::Grouping,
    Totals: grouping::Totalling,
    Reverse: arrange::Reversal,
    Flatten: ptc_kernels::Flattening,
    Chunk: ptc_kernels::Chunks,
    Range: range::Numbers,
    Tally: tally::Tallying,
    SieveKept: sieve::Sifted,
    SieveTally: sieve::SiftedTally,
    Rank: ptc_kernels::Ranking,
    Length: text::length::ItemCount,
    Text: text::OnText,
    LongNumber: text::number::LongNumber,
    Joined: text::join::Joined,
    Split: text::split::Splitting,
    Extract: text::extract::Extraction,
}
