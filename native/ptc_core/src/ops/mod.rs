//! The table of operations: one entry an operation, one file a family.
//!
//! An entry says everything there is to know about an operation: its name, its family, what it is
//! for, its fields, how a use of it is checked and compiled ([`Operation::plan`]) and what it
//! computes ([`Operation::eval`]). To add one, write its entry and name it in [`operations!`].

mod access;
mod arithmetic;
mod combine;
mod compare;
mod data;
mod distinct;
mod extreme;
mod first;
mod flow;
mod introspect;
mod logic;
mod membership;
mod order;
mod position;
mod rounding;
mod select;
mod sort;
mod tally;
mod tool;
mod transform;

pub(crate) use compare::{holds, is_test};
pub use distinct::Table;
pub use order::Sorting;
pub use tally::{Tally, Wrong};

use crate::compile::Plan;
use crate::fault::Halt;
use crate::heap::Heap;
use crate::named::named;
use crate::program::{Apply, Demand, Slot};
use crate::source::Source;
use crate::vm::{Eval, Machine};

/// The check of a plan.
type Checked<S> = Result<(), crate::compile::Failure<<S as Source>::Node>>;

/// One operation.
trait Operation {
    /// The name in a program.
    const NAME: &'static str;
    /// The heading under which it is listed.
    const FAMILY: &'static str;
    /// What it is for, in one sentence.
    const ABOUT: &'static str;
    /// Its fields, in ascending order.
    const FIELDS: &'static [Field];

    /// Checks a use of the operation and says which steps evaluate it, in order.
    fn plan<S: Source>(plan: &mut Plan<'_, '_, S>) -> Checked<S>;

    /// The value, for those whose plan ends with `apply`.
    fn eval<H: Heap>(machine: &mut Machine<'_, H>, _apply: &Apply) -> Eval<H> {
        Ok(machine.heap.nil())
    }

    /// Whether it can go on with what it has so far, for those whose plan emits `Expect`.
    fn expect<H: Heap>(_machine: &mut Machine<'_, H>, _input: Slot) -> Result<(), Halt<H::Term>> {
        Ok(())
    }

    /// Whether only its one instruction, or its loop, looks at its current value.
    const READS_INPUT_ONCE: bool = false;

    /// Which items of its current value it looks at, where only `demand` of its own value is looked
    /// at. If that is not all of them, it must not fail for any item.
    fn needs(_apply: &Apply, _demand: Demand) -> Demand {
        Demand::All
    }

    /// Whether it can fail, or have an effect, for some operands or some current value.
    fn can_fail(_apply: &Apply) -> bool {
        true
    }
}

named! {
    /// What a field holds, as the schema functions name it.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum FieldKind {
        /// Anything, taken literally.
        Any = "any",
        /// A string.
        String = "string",
        /// A map, taken literally.
        Map = "map",
        /// An operation.
        Expr = "expr",
        /// A list of operations.
        ExprList = "expr_list",
        /// A list of strings.
        StringList = "string_list",
        /// An integer from 0.
        Count = "non_neg_integer",
    }
}

/// A field of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// Its name in a program.
    pub name: &'static str,
    /// What it holds.
    pub kind: FieldKind,
    /// Whether a program should always give it.
    pub required: bool,
}

impl Field {
    const fn required(name: &'static str, kind: FieldKind) -> Self {
        Field {
            name,
            kind,
            required: true,
        }
    }

    const fn optional(name: &'static str, kind: FieldKind) -> Self {
        Field {
            name,
            kind,
            required: false,
        }
    }
}

/// The only field of the operations that read one key of the current value.
const ONE_FIELD: &[Field] = &[Field::required("field", FieldKind::String)];

/// An operation's entry without its code, for the schema functions.
#[derive(Debug, Clone, Copy)]
pub struct Definition {
    /// The name in a program.
    pub name: &'static str,
    /// The heading under which it is listed.
    pub family: &'static str,
    /// What it is for, in one sentence.
    pub about: &'static str,
    /// Its fields, in ascending order.
    pub fields: &'static [Field],
}

/// Makes the table: an [`OpCode`] an operation, in the order in which they are listed for readers.
macro_rules! operations {
    ($($room:ident :: $op:ident),+ $(,)?) => {
        /// An operation of the table.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum OpCode {
            $(#[doc = concat!("The entry `", stringify!($room), "::", stringify!($op), "`.")] $op,)+
        }

        impl OpCode {
            /// The whole table.
            pub const ALL: &'static [OpCode] = &[$(OpCode::$op,)+];

            const NAMES: &'static [&'static str] = &[$($room::$op::NAME,)+];

            /// The entry less its code.
            pub fn definition(self) -> Definition {
                fn of<O: Operation>() -> Definition {
                    Definition {
                        name: O::NAME,
                        family: O::FAMILY,
                        about: O::ABOUT,
                        fields: O::FIELDS,
                    }
                }
                match self { $(OpCode::$op => of::<$room::$op>(),)+ }
            }

            /// See [`Operation::plan`].
            pub(crate) fn plan<S: Source>(self, plan: &mut Plan<'_, '_, S>) -> Checked<S> {
                match self { $(OpCode::$op => $room::$op::plan(plan),)+ }
            }

            /// See [`Operation::eval`].
            #[inline]
            pub(crate) fn eval<H: Heap>(
                self,
                machine: &mut Machine<'_, H>,
                apply: &Apply,
            ) -> Eval<H> {
                match self { $(OpCode::$op => $room::$op::eval(machine, apply),)+ }
            }

            /// See [`Operation::expect`].
            pub(crate) fn expect<H: Heap>(
                self,
                machine: &mut Machine<'_, H>,
                input: Slot,
            ) -> Result<(), Halt<H::Term>> {
                match self { $(OpCode::$op => $room::$op::expect(machine, input),)+ }
            }

            /// See [`Operation::READS_INPUT_ONCE`].
            pub(crate) fn reads_input_once(self) -> bool {
                match self { $(OpCode::$op => $room::$op::READS_INPUT_ONCE,)+ }
            }

            /// See [`Operation::needs`].
            pub(crate) fn needs(self, apply: &Apply, demand: Demand) -> Demand {
                match self { $(OpCode::$op => $room::$op::needs(apply, demand),)+ }
            }

            /// See [`Operation::can_fail`].
            pub(crate) fn can_fail(self, apply: &Apply) -> bool {
                match self { $(OpCode::$op => $room::$op::can_fail(apply),)+ }
            }
        }
    };
}

operations! {
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
}

impl OpCode {
    /// What an object without `op` is compiled as.
    pub const IMPLICIT_OBJECT: OpCode = OpCode::Object;

    /// The operation of this name.
    pub fn from_name(name: &[u8]) -> Option<OpCode> {
        match name.len() <= Names::LONGEST {
            true => names().find(name),
            false => None,
        }
    }

    /// The name in a program.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// Whether its value holds its operands side by side.
    pub fn combines(self) -> bool {
        matches!(
            self,
            OpCode::Object | OpCode::Merge | OpCode::Concat | OpCode::Zip
        )
    }

    /// Whether the operation looks at the current value, or anything inside it can: for the others
    /// a key `__input` in their part of the program means nothing.
    pub fn sees_input(self) -> bool {
        !matches!(self, OpCode::Literal | OpCode::Load | OpCode::Var)
    }
}

/// The operations by name: open addressing, at most a fifth full.
struct Names([Option<OpCode>; Names::SIZE]);

impl Names {
    const SIZE: usize = 256;
    /// No name is longer: what is need not be looked at.
    const LONGEST: usize = 32;

    fn new() -> Self {
        let mut names = Names([None; Names::SIZE]);
        for op in OpCode::ALL {
            let free = names.place(op.name().as_bytes());
            names.0[free] = Some(*op);
        }
        names
    }

    fn find(&self, name: &[u8]) -> Option<OpCode> {
        self.0[self.place(name)]
    }

    /// Where the name stands, or where it would.
    fn place(&self, name: &[u8]) -> usize {
        let hash = name.iter().fold(0usize, |hash, byte| {
            hash.wrapping_mul(31).wrapping_add(*byte as usize)
        });
        let mut at = hash % Names::SIZE;
        while self.0[at].is_some_and(|op| op.name().as_bytes() != name) {
            at = (at + 1) % Names::SIZE;
        }
        at
    }
}

fn names() -> &'static Names {
    static NAMES: std::sync::LazyLock<Names> = std::sync::LazyLock::new(Names::new);
    &NAMES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_finds_its_operation() {
        assert_eq!(OpCode::ALL.len(), 50);
        for op in OpCode::ALL {
            assert_eq!(OpCode::from_name(op.name().as_bytes()), Some(*op));
            assert!(op.name().len() <= Names::LONGEST);
        }
        assert_eq!(OpCode::from_name(b"flter"), None);
    }

    #[test]
    fn fields_are_listed_in_the_order_of_their_checks() {
        for op in OpCode::ALL {
            assert!(op.definition().fields.is_sorted_by_key(|field| field.name));
            assert!(!op.definition().about.is_empty());
        }
    }
}
