//! The pair of NIFs that resumes any suspended work.

use crate::atoms;
use crate::execution::Execution;
use crate::schedule::{self, limits, nif_pair, Pace};
use crate::task::{Left, Place, Waiting};
use crate::texts;
use ptc_term::meter::Limits;
use ptc_vm::ValueKind;
use rustler::{Atom, Decoder, Encoder, Env, Error, NifResult, Term};

/// What suspended work is resumed with.
enum ResumeWith<'a> {
    /// `:more`: nothing; the slice or quantum of the work was over.
    Nothing,
    /// `{kind, term, words}`: a value, and the words of that value. The reply to an error is `:uncaught` if the program does not
    /// catch it, and `{:decode, state, terms, tool, text}` to a text that must be decoded.
    Value(ValueKind, Term<'a>, usize),
    /// `{:unanswered, _, _}`: nothing, because the call waits for somebody. What follows it goes on as a run of its own, as long as nothing reads the
    /// answer; the run stays at its call.
    Unanswered,
    /// `{:round, item, _}`: nothing. One round of the loop at whose start the run is suspended is a run of its own, whose value is that of
    /// the body; the run stays at the loop.
    Round(Term<'a>),
    /// `{:limits, timeout, max_heap}`: limits that were not known before.
    Limits(Limits),
}

impl<'a> Decoder<'a> for ResumeWith<'a> {
    fn decode(term: Term<'a>) -> NifResult<Self> {
        if atoms::more() == term {
            return Ok(ResumeWith::Nothing);
        }
        let (tag, first, second): (Atom, Term, Term) = term.decode()?;
        let kind = match tag {
            tag if tag == atoms::answer() => ValueKind::Answer,
            tag if tag == atoms::moved() => ValueKind::Moved,
            tag if tag == atoms::moved_all() => ValueKind::MovedAll,
            tag if tag == atoms::answers() => ValueKind::Answers,
            tag if tag == atoms::failed() => ValueKind::Failed,
            tag if tag == atoms::failed_moved() => ValueKind::FailedMoved,
            tag if tag == atoms::joined() => ValueKind::Joined,
            tag if tag == atoms::in_turn() => ValueKind::InTurn,
            tag if tag == atoms::replayed() => ValueKind::Replayed,
            tag if tag == atoms::replayed_all() => ValueKind::ReplayedAll,
            tag if tag == atoms::unanswered() => return Ok(ResumeWith::Unanswered),
            tag if tag == atoms::round() => return Ok(ResumeWith::Round(first)),
            tag if tag == atoms::text() => ValueKind::Text,
            tag if tag == atoms::text_moved() => ValueKind::TextMoved,
            tag if tag == atoms::limits() => {
                let limits = limits((first, second)).ok_or(Error::BadArg)?;
                return Ok(ResumeWith::Limits(limits));
            }
            _ => return Err(Error::BadArg),
        };
        Ok(ResumeWith::Value(kind, first, second.decode()?))
    }
}

/// Resumes suspended work; `None` if it was resumed already, or if the terms belong to other work.
fn resumed<'a>(
    env: Env<'a>,
    state: Place<'a>,
    terms: Term<'a>,
    with: ResumeWith<'a>,
    pace: Pace,
) -> Option<Term<'a>> {
    if pace == Pace::Quantum && matches!(with, ResumeWith::Nothing) {
        state.age().into_iter().for_each(schedule::has_waited);
    }
    let mut held = state.lock()?;
    let Some((Left::Run(run), since)) = &mut *held else {
        if matches!(with, ResumeWith::Round(_)) {
            // Only a run has loops. Other work stays where it is.
            return None;
        }
        let left = held.take();
        drop(held);
        return match left? {
            (Left::Work(waiting), _) => resume_work(waiting, env, state, terms, with, pace),
            (Left::Run(_), _) => None,
        };
    };
    let (value, words) = match with {
        ResumeWith::Value(kind, answer, words) if kind.is_text() => {
            let plain = run.plain_mut();
            if !texts::may_read(plain) {
                plain.words_built = plain.words_built.saturating_add(words);
                let (tool, text): (Term, Term) = answer.decode().ok()?;
                return Some((atoms::decode(), state.reference(), terms, tool, text).encode(env));
            }
            let Some((Left::Run(run), _)) = held.take() else {
                return None;
            };
            drop(held);
            let answer = (answer.into(), kind, words);
            return texts::answered((env, pace), state, (run, terms), answer);
        }
        ResumeWith::Value(kind, value, words) => (Some((kind, value.into())), words),
        ResumeWith::Unanswered => return Execution::unanswered(env, run.as_ref(), terms, pace),
        ResumeWith::Round(item) => {
            return Execution::round(env, run.as_ref(), terms, item.into(), pace);
        }
        ResumeWith::Limits(limits) => {
            run.plain_mut().limits = limits;
            (None, 0)
        }
        ResumeWith::Nothing => (None, 0),
    };
    let run = (&mut **run, state.reference());
    let reply = Execution::resume(env, run, terms, (value, words), pace);
    match &reply {
        Some((_, Some(waits))) => *since = *waits,
        _ => *held = None,
    }
    reply.map(|(reply, _)| reply)
}

/// Resumes work other than a run. Not inlined, because a run is resumed at each of its calls, and should not
/// pay for the stack that other work needs.
#[inline(never)]
fn resume_work<'a>(
    waiting: Box<Waiting>,
    env: Env<'a>,
    state: Place<'a>,
    terms: Term<'a>,
    with: ResumeWith<'a>,
    pace: Pace,
) -> Option<Term<'a>> {
    let (limits, answer) = match with {
        ResumeWith::Nothing | ResumeWith::Unanswered | ResumeWith::Round(_) => (None, None),
        ResumeWith::Limits(limits) => (Some(limits), None),
        ResumeWith::Value(kind, answer, words) => (None, Some((answer.into(), kind, words))),
    };
    waiting.resume(env, state, terms, (limits, answer), pace)
}

nif_pair! {
    /// Resumes suspended work, for a slice or a quantum.
    fn resume, resume_dirty<'a>(env, pace, state: Place<'a>, terms: Term<'a>, with: ResumeWith<'a>)
        -> NifResult<Term<'a>> {
        resumed(env, state, terms, with, pace).ok_or(Error::BadArg)
    }
}
