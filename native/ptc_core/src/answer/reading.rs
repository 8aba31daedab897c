//! An answer from its text to its value, or to its errors: finds the JSON, builds it and judges it.

use super::check::Ignore;
use super::judge::{Errors, Judge, Report, Verdict};
use super::read::{read_underscored, Answer, NoAnswer, Search};
use crate::heap::{Heap, Kind, Lookup};
use crate::json::{FrozenTerms, Parts, TermBuilder};
use crate::meter::{Meter, Pace};
use crate::signature::{Check, LeftWalk, Values};
use crate::stop::Stop;
use crate::workspace::Workspace;

/// What the caller wants from an answer.
#[derive(Debug, Clone, Copy)]
pub enum Ask {
    /// Its range in the text.
    Range,
    /// Its value.
    Value,
    /// Its value, if it has the type, or its errors.
    Type {
        /// The type is that of a list.
        list: bool,
        /// Which errors.
        report: Report,
        /// The rules of the type check.
        check: Check,
    },
}

/// What was found. `found` is the value as it stands in the text, with its keys.
#[derive(Debug, Clone, Copy)]
pub enum Reply<T> {
    /// Where the value is.
    Range(usize, usize),
    /// The value; it was not judged.
    Value(T),
    /// A value of the type, with normalized keys.
    Right {
        /// The value.
        value: T,
        /// See [`Reply`].
        found: T,
    },
    /// A value of the type, in which two keys would become equal.
    Hyphens(T),
    /// A value that does not have the type.
    Wrong {
        /// Its errors.
        errors: Errors<T>,
        /// See [`Reply`].
        found: T,
    },
    /// An object, or a list, that only Elixir can judge.
    Undecided(T),
    /// A value of which no type is asked.
    Unfit(Unfit, T),
    /// No value.
    None(NoAnswer),
}

/// Why a value cannot have any type of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unfit {
    /// It is not an object.
    NotAnObject,
    /// It is an object that does not wrap a list.
    NotWrapped,
}

/// An answer that is being read. It is plain data; its terms are beside it while it is suspended.
#[derive(Debug)]
pub struct Reading {
    stage: Stage,
    ask: Ask,
}

// One exists at a time, and a box would cost each small answer an allocation.
#[allow(clippy::large_enum_variant)]
#[derive(Debug)]
enum Stage {
    /// Finding and building the value.
    Search(Search, Parts),
    /// Validating the value, which is the first term; with its offset, if its keys have hyphens, and the
    /// suspended walk, whose terms follow.
    Judge(Option<usize>, Option<Box<LeftWalk>>),
    /// The value is valid; its keys are rebuilt with underscores.
    Rename(usize),
}

/// The result of a step.
enum Stepped<T> {
    Stage(Stage, Vec<T>),
    Reply(Reply<T>),
    Stopped(Stop, Stage, Vec<T>),
}

impl Reading {
    /// Creates a reading before its first byte.
    pub fn new(ask: Ask) -> Self {
        let stage = Stage::Search(Search::default(), Parts::default());
        Reading { stage, ask }
    }

    /// Returns whether the reading goes on in quanta only. The search goes on in a slice, the other stages
    /// begin again there.
    pub fn needs_quantum(&self) -> bool {
        !matches!(self.stage, Stage::Search(..))
    }

    /// Continues in `text`, with the type `of`. Where it stops, the reading and its terms are
    /// returned too; `terms` are those, or none at the beginning.
    #[allow(clippy::result_large_err, clippy::type_complexity)]
    pub fn go_on<H: Values>(
        self,
        text: &[u8],
        of: H::Term,
        mut terms: Vec<H::Term>,
        heap: &mut H,
        meter: &mut Meter,
    ) -> Result<Reply<H::Term>, (Stop, Self, Vec<H::Term>)> {
        let Reading { mut stage, ask } = self;
        loop {
            let next = match (stage, ask) {
                (Stage::Search(search, parts), _) => {
                    searched((search, parts), ask, text, &terms, heap, meter)
                }
                (_, Ask::Value | Ask::Range) => {
                    Stepped::Reply(Reply::None(NoAnswer::NotFound(None)))
                }
                (Stage::Judge(hyphens, left), _) => {
                    judged(hyphens, left, ask, of, terms, heap, meter)
                }
                (Stage::Rename(start), Ask::Type { list, .. }) => {
                    renamed(start, list, text, terms, heap, meter)
                }
            };
            (stage, terms) = match next {
                Stepped::Stage(stage, terms) => (stage, terms),
                Stepped::Reply(reply) => return Ok(reply),
                Stepped::Stopped(stop, stage, terms) => {
                    return Err((stop, Reading { stage, ask }, terms))
                }
            };
        }
    }
}

fn searched<H: Values>(
    (mut search, parts): (Search, Parts),
    ask: Ask,
    text: &[u8],
    terms: &[H::Term],
    heap: &mut H,
    meter: &mut Meter,
) -> Stepped<H::Term> {
    if let Ask::Range = ask {
        let mut work = Workspace::new(heap, meter);
        let mut count = |units, leave| match leave {
            true => work.consume_fuel_or_suspend(units),
            false => work.consume_fuel(units),
        };
        let found = search.go_on(text, &mut Ignore { count: &mut count });
        return match found {
            Ok(Ok(range)) => Stepped::Reply(Reply::Range(range.start, range.end)),
            Ok(Err(error)) => Stepped::Reply(Reply::None(error)),
            Err(stop) => Stepped::Stopped(stop, Stage::Search(search, parts), Vec::new()),
        };
    }
    let nil = heap.nil();
    let frozen = match *terms {
        [values, tail] => FrozenTerms {
            values,
            tail: (!heap.is_nil(tail)).then_some(tail),
        },
        _ => FrozenTerms {
            values: nil,
            tail: None,
        },
    };
    let mut builder = TermBuilder::thaw(Workspace::new(heap, meter), parts, frozen);
    let found = search.go_on(text, &mut builder);
    let start = match builder.check_heap_limit().and(found) {
        Ok(Ok(range)) => range.start,
        Ok(Err(error)) => return Stepped::Reply(Reply::None(error)),
        Err(stop) => {
            let (parts, FrozenTerms { values, tail }) = builder.freeze();
            let terms = vec![values, tail.unwrap_or(nil)];
            return Stepped::Stopped(stop, Stage::Search(search, parts), terms);
        }
    };
    let Answer { value, hyphens, .. } = Answer::of(&mut builder, start);
    drop(builder);
    let list = match ask {
        Ask::Value | Ask::Range => return Stepped::Reply(Reply::Value(value)),
        Ask::Type { list, .. } => list,
    };
    match object_or_list(heap, value, list) {
        Ok(value) => Stepped::Stage(Stage::Judge(hyphens.then_some(start), None), vec![value]),
        Err(unfit) => Stepped::Reply(Reply::Unfit(unfit, value)),
    }
}

fn judged<H: Values>(
    hyphens: Option<usize>,
    left: Option<Box<LeftWalk>>,
    ask: Ask,
    of: H::Term,
    mut terms: Vec<H::Term>,
    heap: &mut H,
    meter: &mut Meter,
) -> Stepped<H::Term> {
    let lost = Stepped::Stopped(Stop::Abandoned, Stage::Judge(hyphens, None), Vec::new());
    let (Some(&found), Ask::Type { report, check, .. }) = (terms.first(), ask) else {
        return lost;
    };
    let judge = Judge {
        heap,
        value: found,
        check,
        report,
        meter,
    };
    let verdict = match left {
        None => Some(judge.begin(of)),
        Some(left) => judge.resume(*left, &terms[1..]),
    };
    terms.truncate(1);
    match verdict {
        Some(Verdict::Right) => match hyphens {
            Some(start) => Stepped::Stage(Stage::Rename(start), terms),
            None => Stepped::Reply(Reply::Right {
                value: found,
                found,
            }),
        },
        Some(Verdict::Wrong(errors)) => Stepped::Reply(Reply::Wrong { errors, found }),
        Some(Verdict::Undecided) => Stepped::Reply(Reply::Undecided(found)),
        Some(Verdict::Left(left, kept)) => {
            terms.extend(kept);
            let stage = Stage::Judge(hyphens, Some(left));
            Stepped::Stopped(Stop::SliceOver, stage, terms)
        }
        Some(Verdict::Busy) => {
            Stepped::Stopped(Stop::SliceOver, Stage::Judge(hyphens, None), terms)
        }
        Some(Verdict::Stopped(stop)) => Stepped::Stopped(stop, Stage::Judge(hyphens, None), terms),
        None => lost,
    }
}

fn renamed<H: Values>(
    start: usize,
    list: bool,
    text: &[u8],
    terms: Vec<H::Term>,
    heap: &mut H,
    meter: &mut Meter,
) -> Stepped<H::Term> {
    let Some(&found) = terms.first() else {
        return Stepped::Stopped(Stop::Abandoned, Stage::Rename(start), terms);
    };
    match read_underscored(text, start, Workspace::in_one_go(heap, meter)) {
        Err(stop) => Stepped::Stopped(stop, Stage::Rename(start), terms),
        Ok(None) => Stepped::Reply(Reply::Hyphens(found)),
        Ok(Some(whole)) => {
            let value = object_or_list(heap, whole, list).unwrap_or(found);
            Stepped::Reply(Reply::Right { value, found })
        }
    }
}

/// Returns the object, or the list, which may be wrapped in an object, since some LLM interfaces allow
/// only objects.
pub fn object_or_list<H: Heap>(heap: &mut H, value: H::Term, list: bool) -> Result<H::Term, Unfit> {
    match (heap.kind(value), list) {
        (Kind::Map, false) | (Kind::List, true) => Ok(value),
        (Kind::Map, true) => {
            let key = heap.make_string(b"items");
            match heap.lookup(value, key, &mut H::KeyCache::default()) {
                Lookup::Found(items) if heap.kind(items) == Kind::List => Ok(items),
                _ => Err(Unfit::NotWrapped),
            }
        }
        _ => Err(Unfit::NotAnObject),
    }
}

/// Judges a value that was built at once, and builds it with underscores for the hyphens of its keys if it has
/// some: the value, and whether it is valid, or else only Elixir can decide.
pub fn judge_built<H: Values>(
    (heap, meter): (&mut H, &mut Meter),
    (value, hyphens): (H::Term, bool),
    of: Option<(H::Term, Check)>,
    underscored: impl FnOnce(&mut H, &mut Meter) -> Result<Option<H::Term>, Stop>,
) -> Result<(H::Term, bool), Stop> {
    let verdict = match of {
        None => Verdict::Right,
        Some((of, check)) => Judge {
            heap: &mut *heap,
            value,
            check,
            report: Report::Nothing,
            meter: &mut *meter,
        }
        .whole(of),
    };
    match verdict {
        Verdict::Right if hyphens => {
            // Two keys may become equal.
            let renamed = underscored(heap, meter)?;
            Ok((renamed.unwrap_or(value), renamed.is_some()))
        }
        Verdict::Right => Ok((value, true)),
        Verdict::Busy if meter.pace() != Pace::Quantum => Err(Stop::SliceOver),
        Verdict::Stopped(stop) => Err(stop),
        Verdict::Busy | Verdict::Wrong(_) | Verdict::Undecided | Verdict::Left(..) => {
            Ok((value, false))
        }
    }
}
