//! The sizes of what a run keeps many of, or moves at each of its executions.

use ptc_lazy::Term;
use ptc_program::code::{Halt, Instr, Own, PtcJson, State};
use ptc_run::{Ending, Executed, Plain};
use ptc_term::suspend::One;
use ptc_vm::{Frame, Language};

/// A term of the BEAM is one word.
type Word = usize;

#[test]
fn no_size_grows_by_accident() {
    let sizes = [
        ("a value that is not decoded", size_of::<Term<Word>>(), 16),
        ("a term in a state", size_of::<One<Word>>(), 8),
        ("an instruction", size_of::<Instr>(), 48),
        ("an instruction of the language", size_of::<Own>(), 48),
        ("a frame", size_of::<Frame<Word>>(), 136),
        (
            "an evaluation that has begun",
            size_of::<<PtcJson as Language>::Work<Word>>(),
            16,
        ),
        ("why a run stops", size_of::<Halt<Word>>(), 16),
        ("the state of a run", size_of::<State<Word>>(), 200),
        ("how an execution ends", size_of::<Ending<Word>>(), 56),
        (
            "an execution that has ended",
            size_of::<Executed<Word>>(),
            96,
        ),
        ("the plain data of a run", size_of::<Plain>(), 104),
    ];
    let grown: Vec<_> = sizes.iter().filter(|(_, size, most)| size > most).collect();
    assert!(grown.is_empty(), "{grown:?}");
}
