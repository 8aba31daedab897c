//! The opcodes: the names of the operations, in the order in which they are listed for readers.
//!
//! This module has nothing but names, so code that only distinguishes operations (faults, instructions)
//! depends on nothing else.

/// Passes the operations to a macro, each as `module::Entry`, its path in `ops`.
macro_rules! operations {
    ($make:ident) => {
        $make! {
            data::Load, data::Literal, data::Var,
            flow::Pipe, flow::Let, flow::If,
            logic::And, logic::Or, logic::Not,
            transform::Filter, transform::Map, select::Select, transform::Reject, sort::SortBy,
            membership::FilterIn,
            compare::Eq, compare::Neq, compare::Gt, compare::Gte, compare::Lt, compare::Lte,
            membership::Contains, membership::In,
            tally::Count, tally::Sum, tally::Avg,
            extreme::Min, extreme::Max, extreme::MinBy, extreme::MaxBy,
            position::First, position::Last, position::Nth, position::Take, position::Drop,
            distinct::Distinct,
            arithmetic::Add, arithmetic::Sub, arithmetic::Mul, arithmetic::Div, rounding::Round,
            arithmetic::Pct,
            combine::Object, combine::Merge, combine::Concat, combine::Zip,
            access::Get,
            introspect::Keys, introspect::Typeof,
            tool::Call,
            // Edition 2
            choice::It, list::List, choice::Coalesce, choice::Switch, range::Range,
            search::ForSome, search::ForEvery, search::Find,
            arrange::FlatMap, arrange::Flatten, arrange::Reverse, arrange::Chunk, fold::Fold,
            reshape::Set, reshape::Unset, reshape::Rename,
            entries::EntriesOf, entries::FromEntries, entries::IndexBy,
            group::GroupBy, join::Join,
            text::Text, text::ToText, text::Upper, text::Lower, text::Trim, text::Length, text::Split, text::Replace,
            text::StartsWith, text::EndsWith, text::Matches, text::Extract, text::ToNumber,
            numbers::Mod, numbers::Abs, numbers::Floor, numbers::Ceil,
            numbers::Median, numbers::Percentile,
            dates::DateDiff, dates::DateAdd, dates::DatePart, dates::Now,
        }
    };
}

pub(crate) use operations;

macro_rules! codes {
    ($($room:ident :: $op:ident),+ $(,)?) => {
        /// An operation of the table.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum OpCode {
            $(#[doc = concat!("The entry `", stringify!($room), "::", stringify!($op), "`.")] $op,)+
        }

        impl OpCode {
            /// All operations.
            pub const ALL: &'static [OpCode] = &[$(OpCode::$op,)+];
        }
    };
}

operations!(codes);

impl OpCode {
    /// The operation that an object without `op` is compiled as.
    pub const IMPLICIT_OBJECT: OpCode = OpCode::Object;
    /// The operation that a list in a template is compiled as.
    pub const IMPLICIT_LIST: OpCode = OpCode::List;
}
