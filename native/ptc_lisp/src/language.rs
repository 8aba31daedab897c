//! What the machine asks of the language about its data: the states and errors of its built-ins, and what its instructions read and push.
//!
//! It is no part of [`code`](crate::code), because the states belong to the families of built-ins, and these use `code`.

use crate::cache::Cache;
use crate::code::{Lisp, OperandPlace, Other, Own};
use crate::fault::Fault;
use crate::table::Builtin;
use crate::work::Work;
use ptc_kernels::Why;
use ptc_term::suspend::{Exchange, Rooted};
use ptc_vm::language::Flow;
use ptc_vm::program::Slot;
use ptc_vm::{Language, Report};

impl Language for Lisp {
    const INPUT: &'static str = "";
    type Op = Builtin;
    type Own = Own;
    type Failure = ();
    type Cache<T> = Cache<T>;
    type Work<T> = Work<T>;
    type Fault<T> = Fault<T>;

    fn exchange_work<T, X: Exchange<T>>(
        work: Work<T>,
        by: &mut X,
    ) -> Result<Work<X::Into>, X::Lost> {
        work.exchange(by)
    }

    fn exchange_fault<T, X: Exchange<T>>(
        fault: Fault<T>,
        by: &mut X,
    ) -> Result<Fault<X::Into>, X::Lost> {
        fault.exchange(by)
    }

    fn report<T>(fault: Fault<T>) -> Report<T> {
        fault.report()
    }

    fn terms<T>(fault: &Fault<T>) -> &[T] {
        &fault.terms
    }

    fn limit_inspection<T>(fault: &mut Fault<T>) {
        fault.expensive = true;
    }

    fn wrong<T>(op: Builtin, why: Why, terms: Vec<T>) -> Fault<T> {
        let code = match why {
            Why::NotAList | Why::NotAMap | Why::NotANumber => "invalid_types",
            Why::BadArith | Why::DecimalAndFloat | Why::NotFinite | Why::TooLong => "bad_arith",
        };
        Fault::of(code, op.name(), terms)
    }

    fn flow(own: &Own) -> Flow {
        let branch = match own {
            Own::IfBound { to, .. } | Own::Arithmetic { to, .. } => Some((*to, 1)),
            Own::Visit { to, .. } | Own::Scan { to, .. } => Some((*to, 0)),
            Own::Other(Other::NextItem { to, .. }) => Some((*to, 0)),
            Own::Other(Other::TakeEndless(to) | Other::Guard(to)) => Some((*to, 1)),
            Own::Other(Other::Gather(to)) => Some((*to, 2)),
            _ => None,
        };
        let next = None;
        let (reads, depth) = match own {
            Own::Entry { .. } => (0, (0, 0)),
            Own::Global { .. } => (0, (0, 1)),
            Own::IfBound { .. } => (0, (0, 0)),
            // The instructions behind it read both slots, too.
            Own::Arithmetic { left, right, .. } => {
                let on_stack = u32::from(left.is_top() || right.is_top());
                match left.place() {
                    OperandPlace::Slot(slot) => (slot, (on_stack, on_stack)),
                    _ => (0, (on_stack, on_stack)),
                }
            }
            Own::KeywordOf { slot, .. } => (*slot, (0, 1)),
            Own::Visit { slot, item, .. } | Own::Scan { slot, item, .. } => {
                ((*slot).max(*item), (0, 0))
            }
            Own::Collect(slot) => (*slot, (1, 0)),
            Own::Field { slot, .. } => (*slot, (0, 1)),
            Own::Other(other) => moves(other),
        };
        Flow {
            reads,
            next,
            branch,
            depth,
        }
    }

    fn reads_input(_op: Builtin) -> bool {
        false
    }

    fn keeps_item(_op: Builtin) -> bool {
        false
    }

    fn reads_names(&self) -> bool {
        true
    }
}

/// The highest slot that an instruction reads, and how many values it pops and pushes.
fn moves(other: &Other) -> (Slot, (u32, u32)) {
    match other {
        Other::Remember { .. } => (0, (0, 0)),
        Other::Data(_) | Other::History(_) | Other::Budget => (0, (0, 1)),
        Other::Define { .. } => (0, (1, 1)),
        Other::TakeEndless(_) => (0, (4, 4)),
        Other::Vector(count) | Other::Set(count) | Other::Juxt(count) => (0, (*count, 1)),
        Other::Map(count) => (0, (2 * count, 1)),
        Other::Closure { captures, .. } => (0, (*captures, 1)),
        Other::Captured { slot, .. } => (*slot, (0, 1)),
        Other::Keyword { default, .. } => (0, (1 + u32::from(*default), 1)),
        Other::Question { arguments, .. } => (0, (*arguments, 1)),
        Other::QuestionOfSlots | Other::OfSlots | Other::PrintOfSlots => (0, (0, 1)),
        Other::Answered | Other::Items | Other::IsNil | Other::ToolArguments(_) => (0, (1, 1)),
        Other::Sequence(_) => (0, (1, 1)),
        Other::NextItem { slot, .. } => (*slot, (0, 1)),
        Other::Collected { from, into } => ((*from).max(*into), (0, 1)),
        Other::ExpectList(slot) | Other::ExpectMap(slot) | Other::Arguments(slot) => {
            (*slot, (0, 0))
        }
        Other::TakeItem(slot) | Other::TakeRest(slot) => (*slot, (0, 1)),
        Other::Matches(_) => (0, (1, 2)),
        Other::BadArguments { count, .. } => (0, (*count, 1)),
        Other::Spread { slot, before } => (*slot, (before + 1, 0)),
        // The saved slots are below all that the guarded code pushes, until it ends.
        Other::Guard(_) => (0, (0, 0)),
        Other::Unguard | Other::WorkerFailed { .. } => (0, (1, 1)),
        Other::Grow { others, .. } => (0, (2 + others, 2)),
        Other::Gather(_) => (0, (4, 4)),
        Other::Whole { base, added } => ((*base).max(*added), (0, 1)),
        Other::ReduceItems => (0, (2, 2)),
        Other::RecurCount { .. } => (0, (0, 0)),
        Other::End { .. } | Other::Finish { .. } => (0, (1, 1)),
    }
}
