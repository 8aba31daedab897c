//! Execution of a run of any language: starts or resumes it, and replies when it ends, calls a tool or is suspended.

use crate::handle::{consts_of, AnyProgram, AnyRun};
use crate::heap::Beam;
use crate::moving;
use crate::raw::{Raw, Terms};
use crate::schedule::{self, milliseconds, Pace};
use crate::task::{suspend, Left, Place, Since};
use crate::{atoms, wire};
use ptc_run::{
    texts, Asks, Consts, Data, Ending, Entry, Executed, Given, Mode, Plain, Spent, FIRST,
};
use ptc_term::heap::Heap;
use ptc_term::meter::{Deadline, Limits};
use ptc_term::stop::Stop;
use ptc_term::weight::words_of_row;
use ptc_vm::ValueKind;
use rustler::types::atom::__struct__;
use rustler::{Decoder, Encoder, Env, Error, NifResult, Term};
use std::sync::Arc;
use std::time::Instant;

rustler::atoms! { text = "Elixir.PtcRunner.Json.Text" }

/// Arguments of a run besides its program: a tuple in this order.
pub struct RunArgs<'a> {
    pub data: Data<Raw<'a>>,
    /// See [`schedule::limits`].
    pub timeout: Term<'a>,
    pub max_heap: Term<'a>,
}

// Implemented by hand: rustler's derived decoder makes a vector.
impl<'a> Decoder<'a> for RunArgs<'a> {
    fn decode(term: Term<'a>) -> NifResult<Self> {
        let env = term.get_env();
        let terms = Terms { env };
        let (context, environment, timeout, max_heap, now) = match terms.tuple(term.into()) {
            Some(&[a, b, c, d]) => (a, b, c, d, Raw::from(atoms::nil().encode(env))),
            Some(&[a, b, c, d, now]) => (a, b, c, d, now),
            _ => return Err(Error::BadArg),
        };
        let (timeout, max_heap) = (timeout.term(env), max_heap.term(env));
        let data = Data {
            context,
            environment,
            now,
        };
        Ok(RunArgs {
            data,
            timeout,
            max_heap,
        })
    }
}

impl RunArgs<'_> {
    pub fn limits(&self) -> Option<Limits> {
        schedule::limits((self.timeout, self.max_heap))
    }
}

/// Starts the clock of a deadline. Returns the remaining milliseconds, rounded up, or `:infinity`.
pub fn started<'a>(env: Env<'a>, deadline: &mut Deadline) -> Term<'a> {
    let now = Instant::now();
    *deadline = deadline.started(now);
    milliseconds(env, *deadline, now)
}

/// Whether a value of a context is a `PtcRunner.Json.Text`.
#[inline]
fn has_text<'a>(heap: &Beam<'a>, context: Raw<'a>) -> bool {
    let names = [__struct__(), text()].map(|atom| atom.encode(heap.terms.env).into());
    texts::has_text(heap, context, names)
}

/// One execution of a run.
pub struct Execution<'a> {
    pub heap: Beam<'a>,
    pub given: Given<'a, Raw<'a>>,
    pub pace: Pace,
}

/// The reply to an execution, and since when the run waits if it is suspended.
pub type Reply<'a> = (Term<'a>, Option<Since>);

/// Where a suspended run is put.
enum Home<'a, 'r> {
    /// It is in its resource; this is the reference to it.
    Own(&'r mut AnyRun, Term<'a>),
    /// Into the resource of its loader, or else into a new one. A run that is not suspended is gone.
    New(Option<Box<AnyRun>>, Option<Place<'a>>),
}

impl<'a> Home<'a, '_> {
    fn run(&mut self) -> Option<&mut AnyRun> {
        match self {
            Home::Own(run, _) => Some(&mut **run),
            Home::New(run, _) => Some(run.as_mut()?.as_mut()),
        }
    }

    /// Puts the suspended run there. Returns the reference to its resource.
    fn keep(self, env: Env<'a>, since: Since) -> Term<'a> {
        match self {
            Home::Own(_, reference) => reference,
            Home::New(Some(run), place) => suspend(env, Left::Run(run), since, place),
            Home::New(None, _) => atoms::nil().encode(env),
        }
    }
}

impl<'a> Execution<'a> {
    pub fn new(
        heap: Beam<'a>,
        consts: Consts<'a, Raw<'a>>,
        data: Data<Raw<'a>>,
        pace: Pace,
    ) -> Self {
        let given = Given { consts, data };
        Execution { heap, given, pace }
    }

    /// An execution of a suspended run, with the terms that the caller held; `None` if they are not those of this run. `words`:
    /// what the run has built. Also returns the terms of its state.
    fn of_held(
        env: Env<'a>,
        terms: Term<'a>,
        plain: &Plain,
        words: usize,
        pace: Pace,
    ) -> Option<(Self, &'a [Raw<'a>])> {
        let heap = Beam::new(env, words);
        let held = heap.terms.tuple(terms.into())?;
        let (consts, data) = Given::held(held, heap.nil())?;
        let consts = consts_of(&heap, consts)?;
        plain
            .owns(&heap, held, consts.slice().len())
            .then_some(())?;
        let execution = Execution::new(heap, consts, data, pace);
        Some((execution, &held[FIRST..]))
    }

    /// Starts a run and executes it. Returns the reply to the Elixir side.
    pub fn start(
        mut self,
        program: Arc<AnyProgram>,
        plain: Plain,
        reuse: Option<Place<'a>>,
    ) -> Term<'a> {
        let env = self.heap.terms.env;
        if has_text(&self.heap, self.given.data.context) {
            return atoms::texts().encode(env);
        }
        let meter = schedule::meter(plain.limits, self.pace);
        match program.start(plain, &mut self.heap, &mut self.given, meter) {
            Some((executed, run)) => {
                let call = match executed.ending {
                    Ending::Done(_) => schedule::CALL,
                    _ => schedule::RESUMPTION,
                };
                self.charge(&executed, call);
                self.reply(executed, Home::New(run, reuse)).0
            }
            None => wire::stopped(env, Stop::Abandoned),
        }
    }

    /// Resumes a run in its resource, to which this is the reference. Returns the reply; `None` if the terms are not those of the
    /// run. `words`: those of the value.
    pub fn resume(
        env: Env<'a>,
        (run, reference): (&mut AnyRun, Term<'a>),
        terms: Term<'a>,
        (value, words): (Option<(ValueKind, Raw<'a>)>, usize),
        pace: Pace,
    ) -> Option<Reply<'a>> {
        let plain = run.plain();
        let words = plain.words().saturating_add(words);
        let (mut execution, terms) = Execution::of_held(env, terms, plain, words, pace)?;
        let meter = schedule::meter(plain.limits, pace);
        let entry = Entry::Resume { terms, value };
        let (heap, given) = (&mut execution.heap, &mut execution.given);
        let executed = run.execute(heap, given, entry, meter)?;
        execution.charge(&executed, schedule::RESUMPTION);
        Some(execution.reply(executed, Home::Own(run, reference)))
    }

    /// Executes one round of the loop at whose start a run was suspended.
    pub fn round(
        env: Env<'a>,
        run: &AnyRun,
        terms: Term<'a>,
        item: Raw<'a>,
        pace: Pace,
    ) -> Option<Term<'a>> {
        let plain = run.plain();
        let (mut execution, terms) = Execution::of_held(env, terms, plain, plain.words(), pace)?;
        let meter = schedule::meter(plain.limits, pace);
        let (heap, given) = (&mut execution.heap, &mut execution.given);
        let (executed, round) = run.round(heap, given, (terms, item), meter)?;
        execution.charge(&executed, schedule::RESUMPTION);
        Some(execution.reply(executed, Home::New(round, None)).0)
    }

    /// Executes what follows the call at which a run is suspended, as long as nothing reads the answer, as a run of its own.
    pub fn unanswered(env: Env<'a>, run: &AnyRun, terms: Term<'a>, pace: Pace) -> Option<Term<'a>> {
        let plain = run.plain();
        let (mut execution, terms) = Execution::of_held(env, terms, plain, plain.words(), pace)?;
        let meter = schedule::meter(plain.limits, pace);
        let (heap, given) = (&mut execution.heap, &mut execution.given);
        let (executed, ahead) = run.unanswered(heap, given, terms, meter)?;
        execution.charge(&executed, schedule::RESUMPTION);
        Some(execution.reply(executed, Home::New(ahead, None)).0)
    }

    /// Charges the caller for the execution. After a whole slice it gives up the rest of its time slice.
    fn charge(&self, executed: &Executed<Raw<'a>>, call: usize) {
        let env = self.heap.terms.env;
        match executed.ending {
            Ending::Stop(Stop::SliceOver) => schedule::charge(env, self.pace, 100),
            _ => schedule::charge_fuel(env, self.pace, call + executed.spent.fuel),
        }
    }

    /// The reply to an execution.
    fn reply(self, executed: Executed<Raw<'a>>, home: Home<'a, '_>) -> Reply<'a> {
        let env = self.heap.terms.env;
        let Executed {
            ending,
            held,
            spent,
        } = executed;
        let words = || self.heap.words_built();
        let reply = match ending {
            Ending::Done(value) => (atoms::ok(), value.term(env), words()).encode(env),
            Ending::Last {
                tool,
                args,
                pc,
                mut limits,
            } => {
                let weight = words_of_row(&self.heap, args);
                let left = self.milliseconds_left(&mut limits.deadline);
                let (tool, args) = (tool.term(env), args.term(env));
                (atoms::last(), tool, args, left, weight, pc, words()).encode(env)
            }
            Ending::Fault(report) => wire::fault(&self.heap, atoms::execution(), *report),
            Ending::Uncaught(at) => wire::uncaught(env, &at),
            ending => match held {
                Some(held) => {
                    return self.suspended(ending, held, spent, home);
                }
                None => match ending {
                    Ending::Stop(stop) => wire::stopped(env, stop),
                    _ => wire::stopped(env, Stop::Abandoned),
                },
            },
        };
        (reply, None)
    }

    /// The reply to an execution after which the run is suspended.
    fn suspended(
        self,
        ending: Ending<Raw<'a>>,
        held: Vec<Raw<'a>>,
        spent: Spent,
        mut home: Home<'a, '_>,
    ) -> Reply<'a> {
        let env = self.heap.terms.env;
        let terms = self.heap.terms.make_tuple(&held).term(env);
        let Some(run) = home.run() else {
            return (wire::stopped(env, Stop::Abandoned), None);
        };
        let ahead = match ending {
            Ending::Call {
                args,
                only_collects: true,
                ..
            } => self.calls_ahead(run, &held, args),
            _ => None,
        };
        let plain = run.plain_mut();
        let replays = plain.replays;
        let deadline = &mut plain.limits.deadline;
        let mut since = None;
        let reply = match ending {
            Ending::Call { tool, args, .. } if plain.mode == Mode::Moved => {
                let (tool, args) = (tool.term(env), args.term(env));
                let built = plain.words_built;
                let state = home.keep(env, None);
                match ahead {
                    Some((all, built)) => {
                        (atoms::moved_calls(), state, terms, tool, all, built).encode(env)
                    }
                    None => (atoms::moved_call(), state, terms, tool, args, built).encode(env),
                }
            }
            Ending::Call {
                tool,
                args,
                pc,
                turn,
                most_words,
                ..
            } => {
                let left = self.milliseconds_left(deadline);
                let (tool, args) = (tool.term(env), args.term(env));
                let state = home.keep(env, None);
                let (pc, round) = (pc.encode(env), turn.encode(env));
                if let Some((all, built)) = ahead {
                    let reply = match replays {
                        true => wire::ahead(env, [state, terms, tool, all, left, pc, round]),
                        false => {
                            let built = built.encode(env);
                            wire::calls(env, [state, terms, tool, all, left, built, pc])
                        }
                    };
                    return (reply, Some(None));
                }
                match most_words.and_then(|most| moving::weight(env, [terms, args], most)) {
                    Some(words) => {
                        (atoms::moves(), state, terms, tool, args, left, words).encode(env)
                    }
                    None => {
                        let weight = words_of_row(&Beam::new(env, 0), args.into());
                        let weight = weight.encode(env);
                        wire::call(env, [state, terms, tool, args, left, weight, pc, round])
                    }
                }
            }
            Ending::Fork { name, list, tools } => {
                let left = self.milliseconds_left(deadline);
                let state = home.keep(env, None);
                let (list, tools) = (list.term(env), tools.term(env));
                (atoms::fork(), state, terms, name, list, left, tools).encode(env)
            }
            Ending::Ask { what, about } => {
                let left = self.milliseconds_left(deadline);
                let state = home.keep(env, None);
                (atoms::ask(), state, terms, what, about.term(env), left).encode(env)
            }
            _ if self.pace == Pace::Probe => {
                let state = home.keep(env, None);
                (atoms::limits(), state, terms).encode(env)
            }
            _ => {
                plain.quarters += schedule::quarters(spent.percent);
                let next = schedule::next(self.pace, plain.quarters, spent.needs_quantum);
                since = Some(Instant::now());
                let state = home.keep(env, since);
                (next, state, terms).encode(env)
            }
        };
        (reply, Some(since))
    }

    /// The arguments of a call of a run that has moved, and those of the calls that follow it, with the words that the run has
    /// built before the last of them; `None` if none follows at once.
    fn calls_ahead(
        &self,
        run: &mut AnyRun,
        held: &[Raw<'a>],
        args: Raw<'a>,
    ) -> Option<(Term<'a>, usize)> {
        let terms = self.heap.terms;
        (run.plain().looks_ahead > 0).then_some(())?;
        let mut heap = Beam::new(terms.env, self.heap.words_built());
        let mut all = vec![args];
        let fuel = run.calls_ahead(&mut heap, &self.given, &held[FIRST..], &mut all);
        schedule::charge_fuel(terms.env, self.pace, fuel.unwrap_or(0));
        // Where none follows, or only after many steps, the run does not look again.
        let follows = all.len() > 1;
        let plain = run.plain_mut();
        plain.stays &= follows;
        plain.looks_ahead = match follows {
            // Calls that are decided about together are few at a time.
            true if plain.asks == Asks::Together => plain.looks_ahead,
            true => ptc_vm::level_after(all.len(), plain.looks_ahead),
            false if plain.mode == Mode::Moved => 0,
            false => plain.looks_ahead,
        };
        follows.then(|| (terms.make_list(&all).term(terms.env), heap.words_built()))
    }

    /// Remaining time for a tool: milliseconds, rounded up, or `:infinity`; `nil` if the limits are not
    /// known.
    fn milliseconds_left(&self, deadline: &mut Deadline) -> Term<'a> {
        let env = self.heap.terms.env;
        match self.pace {
            Pace::Probe => atoms::nil().encode(env),
            Pace::Slice | Pace::Quantum => started(env, deadline),
        }
    }
}
