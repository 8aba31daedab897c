//! Checks whether a value from an answer has the requested type.

use ptc_term::meter::{Limits, Meter, Pace};
use ptc_term::stop::Stop;
use ptc_type::error_line::LONGEST_LINE;
use ptc_type::{
    read, Check, Findings, LeftAt, LeftWalk, Listing, QuantumClock, Read, ReadOptions, Rules,
    Scalar, State, Types, Values, Walk, WalkEnd,
};
use std::time::Instant;

/// The result of the check.
#[derive(Debug)]
pub enum Verdict<T> {
    /// The value has the type.
    Right,
    /// The value does not have the type.
    Wrong(Errors<T>),
    /// Only Elixir can decide: strings may have to become dates, keys may be atoms, or the type is invalid.
    Undecided,
    /// The slice or the quantum is over; the check can be resumed in a quantum.
    Left(Box<LeftWalk<T>>),
    /// The check takes too long for a normal scheduler, and must begin again.
    Busy,
    /// A limit was reached, or the caller has ended.
    Stopped(Stop),
}

/// The errors of a value.
#[derive(Debug, Clone, Copy)]
pub struct Errors<T> {
    /// As a list of maps: all, or the first ones.
    pub list: T,
    /// If a line was wanted: the line, and the number of errors that are not listed.
    pub line: Option<(T, usize)>,
}

/// What is reported about a wrong value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Report {
    /// All errors, as a list.
    All,
    /// A line of the errors, and a list of the first ones.
    Line,
    /// Nothing.
    Nothing,
}

/// A check of a value whose keys are strings.
#[derive(Debug)]
pub struct Judge<'j, H: Values> {
    /// The heap of the value.
    pub heap: &'j mut H,
    /// The value.
    pub value: H::Term,
    /// By which rules.
    pub rules: Rules,
    /// What is reported.
    pub report: Report,
    /// Its limits and its pace are those of the check, and the fuel of the check is added.
    pub meter: &'j mut Meter,
}

impl<H: Values> Judge<'_, H> {
    /// Checks the value against a type.
    pub fn begin(self, of: H::Term) -> Verdict<H::Term> {
        self.begin_with_keys(of, &mut false)
    }

    /// Checks the value against a type. `declared`: at the end of the walk, whether each object that has fields by its type has the declared keys only, if
    /// no key has a hyphen.
    pub fn begin_with_keys(self, of: H::Term, declared: &mut bool) -> Verdict<H::Term> {
        let pace = self.meter.pace();
        let begun = (pace == Pace::Quantum).then(Instant::now);
        if self.heap.type_atoms().scalar(self.heap, of) == Some(Scalar::Any) {
            *declared = true;
            return Verdict::Right;
        }
        let mut part = Meter::whole(self.limits(), pace);
        let read = read(self.heap, of, ReadOptions::VALUES, &mut part);
        self.meter.absorb(&part);
        let (Read { types, rules, .. }, id) = match read {
            Ok(read) => read,
            Err(WalkEnd::Abandoned) => return Verdict::Stopped(Stop::DeadlinePassed),
            Err(_) => return Verdict::Busy,
        };
        if types.has_conversions() {
            return Verdict::Undecided;
        }
        let clock = QuantumClock::new(pace, begun, 0);
        let mut state = State::new((self.value, id), Check::by(self.rules)).ruled(rules);
        match self.report {
            Report::All => {}
            Report::Line => state.findings = Findings::for_text(LONGEST_LINE),
            Report::Nothing => state.findings = Findings::for_text(0),
        }
        let meters = (Meter::new(self.limits(), pace), pace);
        let walk = Walk::new(&mut *self.heap, &types, state, meters);
        let step = walked(walk, &types, &clock, self.report, self.meter, declared);
        end(step, types)
    }

    /// Resumes the check; `None` if this is other work.
    pub fn resume(self, left: LeftWalk<H::Term>) -> Option<Verdict<H::Term>> {
        self.resume_with_keys(left, &mut false)
    }

    /// Resumes the check, with `declared` as in [`Judge::begin_with_keys`].
    pub fn resume_with_keys(
        self,
        left: LeftWalk<H::Term>,
        declared: &mut bool,
    ) -> Option<Verdict<H::Term>> {
        let begun = Some(Instant::now());
        let LeftWalk { at, types } = left;
        let pace = self.meter.pace();
        let part = Meter::new(self.limits(), pace);
        let step = match at {
            LeftAt::Check(state) => {
                let clock = QuantumClock::new(pace, begun, state.fuel());
                let walk = Walk::new(&mut *self.heap, &types, state, (part, pace));
                walked(walk, &types, &clock, self.report, self.meter, declared)
            }
            LeftAt::Errors(listing) => listed(listing, self.heap, &types, part, self.meter),
            LeftAt::Coerce(_) => return None,
        };
        Some(end(step, types))
    }

    /// Runs the check in a quantum to its end or to the deadline.
    pub fn whole(self, of: H::Term) -> Verdict<H::Term> {
        let mut left: Option<Box<LeftWalk<H::Term>>> = None;
        loop {
            let judge = Judge {
                heap: &mut *self.heap,
                meter: &mut *self.meter,
                ..self
            };
            let verdict = match left.take() {
                None => Some(judge.begin(of)),
                Some(walk) => judge.resume(*walk),
            };
            match verdict.unwrap_or(Verdict::Busy) {
                Verdict::Left(walk) if self.meter.pace() == Pace::Quantum => left = Some(walk),
                Verdict::Left(..) => return Verdict::Busy,
                verdict => return verdict,
            }
        }
    }

    /// All errors count for the heap limit. Those of a line are few.
    fn limits(&self) -> Limits {
        let limits = self.meter.limits;
        match self.report {
            Report::All => limits,
            Report::Line | Report::Nothing => Limits {
                words: usize::MAX,
                ..limits
            },
        }
    }
}

/// The result of a slice or a quantum.
enum Step<T> {
    Verdict(Verdict<T>),
    Left(Box<LeftAt<T>>),
}

fn end<T>(step: Step<T>, types: Types) -> Verdict<T> {
    match step {
        Step::Verdict(verdict) => verdict,
        Step::Left(at) => Verdict::Left(Box::new(LeftWalk { at: *at, types })),
    }
}

fn walked<H: Values>(
    mut walk: Walk<'_, H, Check<H::Term>>,
    types: &Types,
    clock: &QuantumClock,
    report: Report,
    meter: &mut Meter,
    declared: &mut bool,
) -> Step<H::Term> {
    let outcome = clock.run(&mut walk);
    *declared =
        outcome.is_ok() && types.has_plain_names() && walk.state.task.has_declared_keys_only();
    // If there are too many errors, the ones found so far are enough.
    let is_over = matches!(outcome, Ok(()) | Err(WalkEnd::TooMuch));
    if is_over && walk.state.findings.count() > 0 && !walk.state.findings.need_values() {
        let (State { findings, .. }, heap, part) = walk.into_state();
        let listing = match report {
            Report::Line => Listing::new(findings, heap).with_line(),
            Report::All | Report::Nothing => Listing::new(findings, heap),
        };
        return listed(listing, heap, types, part, meter);
    }
    meter.absorb(walk.meter());
    Step::Verdict(match outcome {
        Err(WalkEnd::SliceOver) => return Step::Left(Box::new(LeftAt::Check(walk.into_state().0))),
        Err(WalkEnd::Unknown(_)) => Verdict::Undecided,
        Err(WalkEnd::Abandoned) => Verdict::Stopped(Stop::DeadlinePassed),
        Err(WalkEnd::TooLong | WalkEnd::Failed | WalkEnd::Refuted) => Verdict::Busy,
        Ok(()) | Err(WalkEnd::TooMuch) => match walk.state.findings.count() {
            0 => Verdict::Right,
            _ => Verdict::Undecided,
        },
    })
}

fn listed<H: Values>(
    mut listing: Listing<H::Term>,
    heap: &mut H,
    types: &Types,
    mut part: Meter,
    meter: &mut Meter,
) -> Step<H::Term> {
    let outcome = listing.run(heap, types, &mut part);
    meter.absorb(&part);
    Step::Verdict(match outcome {
        Ok(()) => Verdict::Wrong(Errors {
            list: listing.list,
            line: listing.into_line(heap),
        }),
        Err(Stop::SliceOver) => return Step::Left(Box::new(LeftAt::Errors(listing))),
        Err(stop) => Verdict::Stopped(stop),
    })
}
