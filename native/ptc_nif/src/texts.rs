//! Runs over JSON texts that are not decoded, and whether these have a type.

use crate::atoms;
use crate::clock::nif;
use crate::execution::{started, RunArgs};
use crate::handle::{right_consts, AnyRun, Handle};
use crate::heap::{Beam, OnBeam};
use crate::raw::Raw;
use crate::schedule::Pace;
use crate::task::{self, kept, Call, Place, Task};
use crate::wire;
use ptc_lazy::judging::Judging;
use ptc_run::texts::{Outcome, TextRun};
use ptc_run::{Mode, Plain};
use ptc_term::meter::{Limits, Meter};
use ptc_term::stop::Stop;
use ptc_term::weight::words_of_row;
use ptc_type::Rules;
use ptc_vm::ValueKind;
use rustler::{Encoder, Env, Error, NifResult, Term};

/// Starts a run of a compiled program over a context with texts, see [`start`](crate::start).
pub fn start<'a>(
    env: Env<'a>,
    handle: &Handle,
    consts: Term<'a>,
    given: &RunArgs<'a>,
    texts: Raw<'a>,
) -> NifResult<Term<'a>> {
    let call = Call::begin(env, (given.timeout, given.max_heap))?;
    right_consts(&Beam::new(env, 0), consts, handle.consts)?;
    let (program, given) = (handle.program.clone(), (texts, consts.into(), given.data));
    let of_texts = TextRun::new(program, given, &Beam::new(env, 0)).ok_or(Error::BadArg)?;
    Ok(task::run::<TextRun<OnBeam, ()>>(call, of_texts))
}

/// Whether the run may go on over texts. One that forks or is observed may not.
pub fn may_read(plain: &Plain) -> bool {
    matches!(plain.mode, Mode::Asks | Mode::Moved) && plain.observation.is_none()
}

/// Goes on with a run over terms as a run over texts: its tool has answered a text.
pub fn answered<'a>(
    (env, pace): (Env<'a>, Pace),
    state: Place<'a>,
    (run, terms): (Box<AnyRun>, Term<'a>),
    (answer, kind, words): (Raw<'a>, ValueKind, usize),
) -> Option<Term<'a>> {
    let mut heap = Beam::new(env, 0);
    let plain = run.plain();
    let mut call = Call::first(env, plain.limits, pace);
    call.words = plain.words_built.saturating_add(words);
    (call.quarters, call.state) = (plain.quarters, Some(state));
    let mut over = TextRun::of_run(run, heap.terms.tuple(terms.into())?, &mut heap)?;
    over.answered(answer, kind, &mut heap);
    Some(task::run::<TextRun<OnBeam, ()>>(call, over))
}

impl<'a> Task<'a> for TextRun<OnBeam, Raw<'a>> {
    type Out = Outcome<Raw<'a>>;

    fn step(&mut self, heap: &mut Beam<'a>, meter: &mut Meter) -> Result<Self::Out, Stop> {
        let terms = heap.terms;
        let texts = terms.tuple(self.texts).and_then(|all| all.get(1..));
        let texts = texts.unwrap_or_default().iter();
        let texts: Option<Vec<_>> = texts.map(|text| terms.bytes(*text)).collect();
        let texts = texts.ok_or(Stop::Abandoned)?;
        let below = std::mem::replace(heap, Beam::new(terms.env, 0));
        let (outcome, words, _) = TextRun::step(self, &texts, below, meter);
        *heap = Beam::new(terms.env, words);
        outcome
    }

    fn reply(self, mut call: Call<'a>, heap: Beam<'a>, outcome: Self::Out) -> Term<'a> {
        use ptc_term::heap::Heap;
        let env = call.env;
        match outcome {
            Outcome::Value(value) => (atoms::ok(), value.term(env), heap.words_built()).encode(env),
            Outcome::Fault(fault) => wire::fault(&heap, atoms::execution(), fault),
            Outcome::Undecoded => atoms::decode().encode(env),
            Outcome::Uncaught(at) => wire::uncaught(env, &at),
            Outcome::Call { tool, args } => {
                let (tool, args) = (tool.term(env), args.term(env));
                if self.has_moved {
                    let built = heap.words_built();
                    let (_, state, terms) = kept::<TextRun<OnBeam, ()>>(call, heap, self);
                    return (atoms::moved_call(), state, terms, tool, args, built).encode(env);
                }
                let left = started(env, &mut call.limits.deadline);
                let weight = words_of_row(&heap, args.into()).encode(env);
                let pc = self.pc().encode(env);
                let (_, state, terms) = kept::<TextRun<OnBeam, ()>>(call, heap, self);
                let nil = atoms::nil().encode(env);
                wire::call(env, [state, terms, tool, args, left, weight, pc, nil])
            }
            Outcome::Ask { what, about } => {
                let left = started(env, &mut call.limits.deadline);
                let about = about.term(env);
                let (_, state, terms) = kept::<TextRun<OnBeam, ()>>(call, heap, self);
                (atoms::ask(), state, terms, what, about, left).encode(env)
            }
            Outcome::Refused { tool, text } => {
                let (tool, text) = (tool.term(env), text.term(env));
                let (_, state, terms) = kept::<TextRun<OnBeam, ()>>(call, heap, self);
                (atoms::decode(), state, terms, tool, text).encode(env)
            }
        }
    }

    fn answered(&mut self, heap: &mut Beam<'a>, answer: Raw<'a>, kind: ValueKind) {
        TextRun::answered(self, answer, kind, heap);
    }

    fn reads_text(&self) -> bool {
        false
    }

    fn needs_quantum(&self) -> bool {
        TextRun::needs_quantum(self)
    }
}

nif! {
    /// Whether a text is JSON that can be read in place and has this type.
    fn text_has_type<'a>(env, text: Term<'a>, of: Term<'a>) -> Term<'a> {
        let call = Call::first(env, Limits::UNLIMITED, Pace::Slice);
        task::run::<Judging<()>>(call, Judging::new((text.into(), of.into()), Rules::current()))
    }
}

impl<'a> Task<'a> for Judging<Raw<'a>> {
    type Out = bool;

    fn step(&mut self, heap: &mut Beam<'a>, meter: &mut Meter) -> Result<bool, Stop> {
        let terms = heap.terms;
        let text = terms.bytes(self.text).unwrap_or_default();
        let below = std::mem::replace(heap, Beam::new(terms.env, 0));
        let (judged, below) = Judging::step(self, text, below, meter);
        *heap = below;
        judged
    }

    fn reply(self, call: Call<'a>, _heap: Beam<'a>, has: bool) -> Term<'a> {
        has.encode(call.env)
    }

    fn needs_quantum(&self) -> bool {
        Judging::needs_quantum(self)
    }
}
