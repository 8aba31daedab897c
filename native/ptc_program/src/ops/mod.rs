//! The table of operations: one entry per operation, one file per family.
//!
//! An entry is the complete description of an operation: its name, its family, its purpose, its fields
//! (which also determine the checks), its compilation ([`Operation::plan`]) and its evaluation
//! ([`Operation::eval`]). To add one, write its entry and name it in `opcode.rs`.

mod access;
mod arithmetic;
mod arrange;
mod choice;
mod combine;
pub(crate) mod compare;
mod constants;
mod data;
mod dates;
mod distinct;
mod entries;
mod extreme;
mod field;
mod flow;
mod fold;
mod formula;
mod group;
mod grouping;
mod introspect;
mod join;
mod keeping;
mod keyed;
mod language;
mod list;
mod listing;
mod logic;
mod membership;
mod names;
mod numbers;
mod position;
mod range;
mod reshape;
mod rounding;
mod search;
mod select;
mod sieve;
mod sort;
mod subject;
mod tally;
mod text;
mod tool;
mod transform;
pub mod work;

pub use crate::opcode::OpCode;
pub(crate) use access::{read_of_pair, reads_field};
pub(crate) use compare::{reads_input as compares_input, Orders};
pub use field::{Field, FieldKind, Presence};
pub(crate) use formula::is_computed;
pub(crate) use group::{combines_with_input, parts_of, PartsOf};
pub(crate) use join::{make_pairs, makes_pairs};
pub use listing::listing;
pub(crate) use reshape::{begins as begins_set, make_of_pair};
pub use tool::seems_to_call;

use crate::code::{Apply, Demand, Eval, Halt, Loop, Machine, Slot, Stepped, NO_CONST};
use crate::compile::{Plan, MOST_FIELDS};
use crate::edition::Edition;
use crate::opcode::operations;
use crate::shape::OpShape;
use ptc_term::heap::Heap;
use ptc_vm::{Frame, Keeps, Name, Step};

/// The result of a plan's check.
type Planned = Result<(), crate::compile::Failure>;

/// An operation.
trait Operation {
    /// Its name in a program.
    const NAME: &'static str;
    /// The heading under which it is listed.
    const FAMILY: &'static str;
    /// Its purpose, in one sentence.
    const ABOUT: &'static str;
    /// Its fields, in ascending order. The checks, the schemas, the prompt and the fuzzer's dictionary follow
    /// from them. `test/support/oracle/fields.ex` states them again on purpose: the oracle of the tests must not
    /// learn the language from the code that it judges.
    const FIELDS: &'static [Field];
    /// The edition in which it came into the language.
    const EDITION: Edition = Edition::One;
    /// Its fields in edition 2, in ascending order.
    const FIELDS_2: &'static [Field] = Self::FIELDS;
    /// Its purpose in edition 2.
    const ABOUT_2: &'static str = Self::ABOUT;
    /// What its value is made of, and how its parts are evaluated.
    const SHAPE: OpShape;
    /// What goes in and what comes out, in the words of the guide.
    const TYPES: &'static str;
    /// Whether an error in one of its fields comes before those of the fields after it in ascending order, also if the
    /// fields hold operations. Otherwise they are checked in the order of their evaluation.
    const CHECKED_IN_ORDER: bool = matches!(Self::EDITION, Edition::Two);

    /// Checks that a single field's check cannot do; runs before those.
    fn check(_plan: &Plan) -> Planned {
        Ok(())
    }

    /// Adds the steps that evaluate a use of the operation, in order. Its fields have been checked,
    /// unless it is in an unchecked part. The default applies the operation to the current value and
    /// the constant in its only field, if it has one.
    fn plan(plan: &mut Plan) -> Planned {
        let key = match Self::FIELDS {
            [field] => plan.constant_of(field.name),
            _ => NO_CONST,
        };
        plan.apply_to_input(key);
        Ok(())
    }

    /// Computes the value; for operations whose plan ends with `apply`.
    fn eval<H: Heap>(machine: &mut Machine<'_, H>, _apply: &Apply) -> Eval<H> {
        Ok(machine.heap.nil())
    }

    /// Checks the operands so far; for operations whose plan emits `Expect`.
    fn expect<H: Heap>(_machine: &mut Machine<'_, H>, _input: Slot) -> Result<(), Halt<H::Term>> {
        Ok(())
    }

    /// What it keeps of each item, if it has a body.
    const KEEPS: Keeps = Keeps::Other;
    /// Whether its rounds may run at the same time if its body calls tools.
    const FORKS: bool = false;

    /// See [`Language::step`]; for operations with a body that keep something else.
    fn step<H: Heap>(
        machine: &mut Machine<'_, H>,
        _looped: &Loop,
        _frame: &mut Frame<H::Term>,
        _returned: Option<H::Term>,
    ) -> Stepped<H> {
        Ok(Step::Done(machine.heap.nil()))
    }

    /// If it compares a field of its current value with a value: the orders
    /// for which the comparison holds.
    const HOLDS_FOR: Orders = Orders::NONE;

    /// Whether only its one instruction, or its loop, reads its current value.
    const READS_INPUT_ONCE: bool = false;

    /// Returns which items of its current value it reads if only `demand` of its own value is read. If
    /// the result is not all items, it must not fail for any item.
    fn needs(_apply: &Apply, _demand: Demand) -> Demand {
        Demand::All
    }

    /// Returns whether it can fail, or have an effect, for some operands or some current value.
    fn can_fail(_apply: &Apply) -> bool {
        true
    }
}

/// An operation's entry without its code, for the schema functions.
#[derive(Debug, Clone, Copy)]
pub struct Definition {
    /// Its name in a program.
    pub name: &'static str,
    /// The heading under which it is listed.
    pub family: &'static str,
    /// Its purpose, in one sentence.
    pub about: &'static str,
    /// The edition in which it came into the language.
    pub edition: Edition,
    /// Its purpose in edition 2.
    pub about_2: &'static str,
    /// What goes in and what comes out.
    pub types: &'static str,
    /// Its fields, in ascending order.
    pub fields: &'static [Field],
    /// Its fields in edition 2, in ascending order.
    pub fields_2: &'static [Field],
}

macro_rules! entries {
    ($($room:ident :: $op:ident),+ $(,)?) => {
        const NAMES: &[&str] = &[$($room::$op::NAME,)+];
        const _: () = { $(assert!($room::$op::FIELDS_2.len() <= MOST_FIELDS);)+ };

        /// Access to the entry of an operation.
        impl OpCode {
            /// Returns the entry without its code.
            pub fn definition(self) -> Definition {
                fn of<O: Operation>() -> Definition {
                    Definition {
                        name: O::NAME,
                        family: O::FAMILY,
                        about: O::ABOUT,
                        edition: O::EDITION,
                        about_2: O::ABOUT_2,
                        types: O::TYPES,
                        fields: O::FIELDS,
                        fields_2: O::FIELDS_2,
                    }
                }
                match self { $(OpCode::$op => of::<$room::$op>(),)+ }
            }

            /// Returns its fields in an edition, in ascending order.
            #[inline]
            pub fn fields(self, edition: Edition) -> &'static [Field] {
                const ALL: &[[&[Field]; 2]] = &[$([$room::$op::FIELDS, $room::$op::FIELDS_2],)+];
                ALL[self as usize][usize::from(edition == Edition::Two)]
            }

            /// Returns which of its fields in edition 2 came with that edition: a bit for each.
            #[inline]
            pub(crate) fn new_fields(self) -> u8 {
                const ALL: &[u8] = &[$(
                    field::new_fields($room::$op::EDITION, $room::$op::FIELDS, $room::$op::FIELDS_2),
                )+];
                ALL[self as usize]
            }

            /// See [`Operation::EDITION`].
            #[inline]
            pub fn edition(self) -> Edition {
                const ALL: &[Edition] = &[$($room::$op::EDITION,)+];
                ALL[self as usize]
            }

            /// See [`Operation::CHECKED_IN_ORDER`].
            pub(crate) fn checked_in_order(self) -> bool {
                match self { $(OpCode::$op => $room::$op::CHECKED_IN_ORDER,)+ }
            }

            /// See [`Operation::FORKS`].
            pub(crate) fn forks(self) -> bool {
                match self { $(OpCode::$op => $room::$op::FORKS,)+ }
            }

            /// See [`Operation::SHAPE`].
            #[inline]
            pub fn shape(self) -> OpShape {
                const ALL: &[OpShape] = &[$($room::$op::SHAPE,)+];
                ALL[self as usize]
            }

            /// See [`Operation::check`].
            pub(crate) fn check(self, plan: &Plan) -> Planned {
                match self { $(OpCode::$op => $room::$op::check(plan),)+ }
            }

            /// See [`Operation::plan`].
            pub(crate) fn plan(self, plan: &mut Plan) -> Planned {
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

            /// See [`Operation::step`].
            fn own_step<H: Heap>(
                self,
                machine: &mut Machine<'_, H>,
                looped: &Loop,
                frame: &mut Frame<H::Term>,
                returned: Option<H::Term>,
            ) -> Stepped<H> {
                match self { $(OpCode::$op => $room::$op::step(machine, looped, frame, returned),)+ }
            }

            /// See [`Operation::KEEPS`].
            #[inline]
            pub(crate) fn keeps(self) -> Keeps {
                const ALL: &[Keeps] = &[$($room::$op::KEEPS,)+];
                ALL[self as usize]
            }

            /// See [`Operation::HOLDS_FOR`].
            #[inline]
            pub(crate) fn holds_for(self) -> Orders {
                const ALL: &[Orders] = &[$($room::$op::HOLDS_FOR,)+];
                ALL[self as usize]
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

operations!(entries);

impl OpCode {
    /// Returns the operation of this name in an edition.
    pub fn from_name(name: &[u8], edition: Edition) -> Option<OpCode> {
        names::find(name).filter(|op| op.edition() <= edition)
    }

    /// Returns its name in a program.
    pub fn name(self) -> Name {
        NAMES[self as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptc_term::named::Named;
    use std::collections::HashSet;

    #[test]
    fn no_two_kinds_have_one_name() {
        fn are_different<T: Named>() -> bool {
            let names: HashSet<_> = T::ALL.iter().map(|variant| variant.name()).collect();
            names.len() == T::ALL.len()
        }
        assert!(are_different::<FieldKind>() && are_different::<Presence>());
    }

    #[test]
    fn entries_are_complete() {
        for op in OpCode::ALL {
            for edition in [Edition::One, Edition::Two] {
                let fields = op.fields(edition);
                let names: Vec<_> = fields.iter().map(|field| field.name).collect();
                assert!(fields.iter().all(|field| !field.about.is_empty()), "{op:?}");
                assert!(names.is_sorted(), "{op:?}");
            }
            assert!(!op.definition().about.is_empty());
        }
    }
}
