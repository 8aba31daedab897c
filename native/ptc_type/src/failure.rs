//! Why a value cannot be coerced, as a term.

use super::{Findings, PathStep, Target, Types, Values, Wrong};
use ptc_term::named::named;

named! {
    /// The tags of reasons.
    #[derive(Debug, Clone, Copy)]
    enum Reason {
        /// It is no list.
        List = "list",
        /// It is no map.
        Map = "map",
        /// A field is missing.
        Missing = "missing",
        /// Keys that a closed map must not have.
        Unexpected = "unexpected",
        /// The type is no type.
        Unsupported = "unsupported",
        /// A negative answer, or a rule that refuses the value.
        Answered = "answered",
    }
}

/// Returns the reason of the last finding: a tuple of its tag and its value, or `:unsupported`.
pub fn failure<H: Values>(
    heap: &mut H,
    types: &Types,
    findings: &mut Findings<H::Term>,
) -> H::Term {
    let Some(number) = findings.count().checked_sub(1) else {
        return heap.word(Reason::Unsupported);
    };
    let last = findings.path(number).last().copied();
    let wrong = findings.all()[number].wrong;
    let at = findings.value_at(number);
    let value = at.and_then(|at| findings.values(heap).get(at).copied());
    let value = value.unwrap_or(heap.nil());
    let (tag, value) = match wrong {
        Wrong::Mismatch(mismatch) => match mismatch.expected {
            Target::Scalar(scalar) => (heap.word(scalar), value),
            Target::List => (heap.word(Reason::List), value),
            Target::Map => (heap.word(Reason::Map), value),
            Target::Field => {
                let name = match last {
                    Some(PathStep::Field(field)) => {
                        heap.make_string(types.field(field as usize).name)
                    }
                    _ => heap.nil(),
                };
                (heap.word(Reason::Missing), name)
            }
        },
        Wrong::Unexpected => (heap.word(Reason::Unexpected), value),
        Wrong::Unsupported => return heap.word(Reason::Unsupported),
        Wrong::Answered | Wrong::Rule => (heap.word(Reason::Answered), value),
    };
    heap.make_tuple(&[tag, value])
}
