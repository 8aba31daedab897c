//! The NIF that starts a run, whatever its program is and whatever it runs over.

use crate::atoms;
use crate::clock::nif;
use crate::execution::{Execution, RunArgs};
use crate::explain::Observed;
use crate::handle::{right_consts, AnyProgram, Handle};
use crate::heap::Beam;
use crate::program::{from_node, from_text, CompileOptionsArg, Then};
use crate::raw::{Raw, Terms};
use crate::schedule::Pace;
use crate::task::Call;
use crate::texts;
use ptc_program::ops::seems_to_call;
use ptc_run::{Asks, Mode, Plain};
use ptc_term::meter::Limits;
use rustler::{Atom, Decoder, Encoder, Env, Error, NifResult, ResourceArc, Term};
use std::sync::Arc;

/// How a compiled program runs.
enum How<'a> {
    /// Nil: nothing is asked of its caller but to call the tools.
    Plainly,
    /// `:unless_calls`: as above, but a program that may call a tool is not started, because its limits are not known.
    UnlessItCalls,
    /// `{forks?, asks}`: whether its loops fork, and whether its caller decides about each call: a boolean, or `:together`.
    Driven(Mode, Asks),
    /// `{:texts, texts}`: over JSON texts that are not decoded.
    OverTexts(Raw<'a>),
}

impl<'a> Decoder<'a> for How<'a> {
    #[inline]
    fn decode(term: Term<'a>) -> NifResult<Self> {
        if atoms::nil() == term {
            return Ok(How::Plainly);
        }
        if atoms::unless_calls() == term {
            return Ok(How::UnlessItCalls);
        }
        let env = term.get_env();
        let Some(&[first, second]) = Terms { env }.tuple(term.into()) else {
            return Err(Error::BadArg);
        };
        let (first, asks) = (first.term(env), second.term(env));
        if atoms::texts() == first {
            return Ok(How::OverTexts(second));
        }
        let mode = if first.decode()? {
            Mode::Forks
        } else {
            Mode::Asks
        };
        if atoms::together() == asks {
            return Ok(How::Driven(mode, Asks::Together));
        }
        let asks = if asks.decode()? {
            Asks::Always
        } else {
            Asks::Never
        };
        Ok(How::Driven(mode, asks))
    }
}

nif! {
    /// Starts a run; the reply is that of any run.
    ///
    /// `program` is a handle, with its constants; an observation, with the constants of its program; a text, with how it is read; or `{:checked, node}`
    /// (`:unchecked`: errors are reported where they occur), with how that is read. `how` is that of a compiled program; others are
    /// started with nil or `:unless_calls`. With the latter, the reply to a compiled program that calls a tool, or to a text that seems to, is `:calls`.
    ///
    /// Where its loops fork, it returns `{:fork, state, terms, name of the loop, list, time left, names of its tools}` at a loop that calls tools. Where
    /// its caller decides about each call, the run does not move, and the last element of a call is `{weight, address}`. With `:together` the caller is told of the calls that follow.
    /// Over texts, the context has in the place of each text a tuple of a marker and a number, and the texts are a tuple of the marker and
    /// the texts. The reply is `:decode` if a text must be decoded. Such a run never moves.
    fn start<'a>(env, program: Term<'a>, with: Term<'a>, given: RunArgs<'a>, how: How<'a>)
        -> NifResult<Term<'a>> {
        let Ok(handle) = program.decode::<ResourceArc<Handle>>() else {
            return start_other(env, (program, with), given, how);
        };
        let mut plain = Plain::new(given.limits());
        match how {
            How::Plainly => {}
            How::UnlessItCalls if handle.program.calls_tools() => return Ok(atoms::calls().encode(env)),
            How::UnlessItCalls => {}
            How::Driven(mode, asks) => (plain.mode, plain.asks) = (mode, asks),
            How::OverTexts(texts) => return texts::start(env, &handle, with, &given, texts),
        }
        start_program(env, (handle.program.clone(), handle.consts), with, given, plain)
    }
}

/// Starts a run of a program that is compiled, with this number of constants.
#[inline]
fn start_program<'a>(
    env: Env<'a>,
    (program, count): (Arc<AnyProgram>, usize),
    consts: Term<'a>,
    given: RunArgs<'a>,
    plain: Plain,
) -> NifResult<Term<'a>> {
    let heap = Beam::new(env, 0);
    let consts = right_consts(&heap, consts, count)?;
    let pace = given.limits().map_or(Pace::Probe, |_| Pace::Slice);
    Ok(Execution::new(heap, consts, given.data, pace).start(program, plain, None))
}

/// Starts a run of anything but a handle. Not inlined, because a compiled program should not pay for the stack that these need.
#[inline(never)]
fn start_other<'a>(
    env: Env<'a>,
    (program, with): (Term<'a>, Term<'a>),
    given: RunArgs<'a>,
    how: How<'a>,
) -> NifResult<Term<'a>> {
    let terms = Terms { env };
    let limits = given.limits();
    if let Ok(observed) = program.decode::<ResourceArc<Observed>>() {
        limits.ok_or(Error::BadArg)?;
        let mut plain = Plain::new(limits);
        plain.observation = Some(observed.counts.clone());
        match how {
            How::Plainly => {}
            How::Driven(mode, asks) => (plain.mode, plain.asks) = (mode, asks),
            How::UnlessItCalls | How::OverTexts(_) => return Err(Error::BadArg),
        }
        let program = (observed.program.clone(), observed.consts);
        return start_program(env, program, with, given, plain);
    }
    let unless_it_calls = match how {
        How::Plainly => false,
        How::UnlessItCalls => true,
        _ => return Err(Error::BadArg),
    };
    let mut call = Call::first(env, limits.unwrap_or(Limits::UNLIMITED), Pace::Slice);
    call.knows_limits = limits.is_some();
    let reading: CompileOptionsArg = with.decode()?;
    if let Some(text) = terms.bytes(program.into()) {
        if unless_it_calls && seems_to_call(text) {
            return Ok(atoms::calls().encode(env));
        }
        let reading = reading.reading(true);
        return from_text(call, program.into(), reading, Then::Run, given.data)
            .ok_or(Error::BadArg);
    }
    let (checked, node): (Atom, Term) = program.decode()?;
    let reading = reading.reading(match checked {
        checked if checked == atoms::checked() => true,
        checked if checked == atoms::unchecked() => false,
        _ => return Err(Error::BadArg),
    });
    Ok(from_node(call, node.into(), reading, Then::Run, given.data))
}
