//! What the machine asks of the language about its data: the states and errors of its built-ins, and what its instructions read and push.
//!
//! It is no part of [`code`](crate::code), because the states belong to the families of built-ins, and these use `code`.

use crate::cache::Cache;
use crate::code::{Lisp, OperandPlace, Own};
use crate::fault::Fault;
use crate::table::Builtin;
use crate::work::Work;
use ptc_kernels::Why;
use ptc_term::suspend::{Exchange, Rooted};
use ptc_vm::language::Flow;
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
            Own::IfBound { to, .. } => Some((*to, 1)),
            Own::NextItem { to, .. } | Own::Visit { to, .. } | Own::Scan { to, .. } => {
                Some((*to, 0))
            }
            Own::TakeEndless(to) => Some((*to, 1)),
            Own::Gather(to) => Some((*to, 2)),
            Own::Arithmetic { to, .. } => Some((*to, 1)),
            Own::Guard(to) => Some((*to, 1)),
            _ => None,
        };
        let next = None;
        let (reads, depth) = match own {
            Own::Entry { .. } | Own::Remember { .. } => (0, (0, 0)),
            Own::Global { .. } | Own::Data(_) | Own::History(_) | Own::Budget => (0, (0, 1)),
            Own::Define { .. } => (0, (1, 1)),
            Own::IfBound { .. } => (0, (0, 0)),
            Own::TakeEndless(_) => (0, (4, 4)),
            // The instructions behind it read both slots, too.
            Own::Arithmetic { left, right, .. } => {
                let on_stack = u32::from(left.is_top() || right.is_top());
                match left.place() {
                    OperandPlace::Slot(slot) => (slot, (on_stack, on_stack)),
                    _ => (0, (on_stack, on_stack)),
                }
            }
            Own::Vector(count) | Own::Set(count) | Own::Juxt(count) => (0, (*count, 1)),
            Own::Map(count) => (0, (2 * count, 1)),
            Own::Closure { captures, .. } => (0, (*captures, 1)),
            Own::Captured { slot, .. } => (*slot, (0, 1)),
            Own::KeywordOf { slot, .. } => (*slot, (0, 1)),
            Own::Keyword { default, .. } => (0, (1 + u32::from(*default), 1)),
            Own::Question { arguments, .. } => (0, (*arguments, 1)),
            Own::QuestionOfSlots | Own::OfSlots | Own::PrintOfSlots => (0, (0, 1)),
            Own::Answered | Own::Items | Own::IsNil | Own::ToolArguments(_) => (0, (1, 1)),
            Own::Sequence(_) => (0, (1, 1)),
            Own::NextItem { slot, .. } => (*slot, (0, 1)),
            Own::Visit { slot, item, .. } | Own::Scan { slot, item, .. } => {
                ((*slot).max(*item), (0, 0))
            }
            Own::Collected { from, into } => ((*from).max(*into), (0, 1)),
            Own::Collect(slot) => (*slot, (1, 0)),
            Own::ExpectList(slot) | Own::ExpectMap(slot) | Own::Arguments(slot) => (*slot, (0, 0)),
            Own::TakeItem(slot) | Own::TakeRest(slot) => (*slot, (0, 1)),
            Own::Field { slot, .. } => (*slot, (0, 1)),
            Own::Matches(_) => (0, (1, 2)),
            Own::BadArguments { count, .. } => (0, (*count, 1)),
            Own::Spread { slot, before } => (*slot, (before + 1, 0)),
            // The saved slots are below all that the guarded code pushes, until it ends.
            Own::Guard(_) => (0, (0, 0)),
            Own::Unguard | Own::WorkerFailed { .. } => (0, (1, 1)),
            Own::Grow { others, .. } => (0, (2 + others, 2)),
            Own::Gather(_) => (0, (4, 4)),
            Own::Whole { base, added } => ((*base).max(*added), (0, 1)),
            Own::ReduceItems => (0, (2, 2)),
            Own::RecurCount { .. } => (0, (0, 0)),
            Own::End { .. } | Own::Finish { .. } => (0, (1, 1)),
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
