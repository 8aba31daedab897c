//! An answer from its text to its value, or to its errors: finds the JSON, builds it and judges it.

use super::check::Ignore;
use super::judge::{Errors, Judge, Report, Verdict};
use super::read::{read_underscored, Answer, NoAnswer, Search};
use ptc_json::{PartialValue, TermBuilder};
use ptc_term::heap::{Heap, Kind, Lookup};
use ptc_term::job::Job;
use ptc_term::meter::Meter;
use ptc_term::rooted;
use ptc_term::stop::Stop;
use ptc_term::suspend::{Exchange, Rooted};
use ptc_term::workspace::Workspace;
use ptc_type::{LeftWalk, Rules, Values};
use std::mem::take;

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
        rules: Rules,
        /// Numbers keep their digits: see [`PartialValue::new`].
        exact: bool,
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

/// An answer that is being read.
#[derive(Debug)]
pub struct Reading<T> {
    /// The type.
    of: T,
    ask: Ask,
    stage: Stage<T>,
}

rooted!(Reading { terms: of; states: stage; plain: ask });

// One exists at a time, and a box would cost each small answer an allocation.
#[allow(clippy::large_enum_variant)]
#[derive(Debug)]
enum Stage<T> {
    /// Finding and building the value.
    Search(Search, PartialValue<T>),
    /// Validating the value.
    Judge(Built<T>, Option<Box<LeftWalk<T>>>),
    /// The value is valid; its keys are rebuilt with underscores. With its offset.
    Rename(T, usize),
}

/// A value that was found and built.
#[derive(Debug, Clone, Copy)]
struct Built<T> {
    value: T,
    /// Its offset, if its keys have hyphens.
    hyphens: Option<usize>,
}

rooted!(Built { terms: value; plain: hyphens });

impl<T> Rooted for Stage<T> {
    type Term = T;
    type With<U> = Stage<U>;

    fn exchange<X: Exchange<T>>(self, by: &mut X) -> Result<Stage<X::Into>, X::Lost> {
        Ok(match self {
            Stage::Search(search, value) => Stage::Search(search, value.exchange(by)?),
            Stage::Judge(found, begun) => Stage::Judge(found.exchange(by)?, begun.exchange(by)?),
            Stage::Rename(value, start) => Stage::Rename(by.term(value)?, start),
        })
    }
}

/// What follows a stage.
enum After<T> {
    Judge(Built<T>),
    Rename(T, usize),
    Reply(Reply<T>),
}

impl<T> Reading<T> {
    /// Creates a reading before its first byte; `of` is the type, if one is asked for.
    pub fn new(ask: Ask, of: T) -> Self {
        let exact = matches!(ask, Ask::Type { exact: true, .. });
        let stage = Stage::Search(Search::default(), PartialValue::new(exact));
        Reading { of, ask, stage }
    }

    /// Returns whether the reading goes on in quanta only. The search goes on in a slice, the other stages
    /// begin again there.
    pub fn needs_quantum(&self) -> bool {
        !matches!(self.stage, Stage::Search(..))
    }
}

impl<H: Values> Job<H> for Reading<H::Term> {
    type Out = Reply<H::Term>;

    fn step(&mut self, text: &[u8], heap: &mut H, meter: &mut Meter) -> Result<Self::Out, Stop> {
        loop {
            let after = match (&mut self.stage, self.ask) {
                (Stage::Search(search, value), ask) => {
                    searched((search, value), ask, text, heap, meter)?
                }
                (_, Ask::Value | Ask::Range) => {
                    return Ok(Reply::None(NoAnswer::NotFound(None)));
                }
                (Stage::Judge(found, begun), ask) => {
                    judged(*found, begun, (ask, self.of), heap, meter)?
                }
                (Stage::Rename(found, start), Ask::Type { list, .. }) => {
                    return renamed((*found, *start), list, text, heap, meter)
                }
            };
            match after {
                After::Judge(found) => self.stage = Stage::Judge(found, None),
                After::Rename(found, start) => self.stage = Stage::Rename(found, start),
                After::Reply(reply) => return Ok(reply),
            }
        }
    }
}

fn searched<H: Values>(
    (search, value): (&mut Search, &mut PartialValue<H::Term>),
    ask: Ask,
    text: &[u8],
    heap: &mut H,
    meter: &mut Meter,
) -> Result<After<H::Term>, Stop> {
    if let Ask::Range = ask {
        let mut work = Workspace::new(heap, meter);
        let mut count = |units, leave| match leave {
            true => work.consume_fuel_or_suspend(units),
            false => work.consume_fuel(units),
        };
        let found = search.resume(text, &mut Ignore { count: &mut count })?;
        return Ok(After::Reply(match found {
            Ok(range) => Reply::Range(range.start, range.end),
            Err(error) => Reply::None(error),
        }));
    }
    let mut builder = TermBuilder::resume(Workspace::new(heap, meter), take(value));
    let found = search.resume(text, &mut builder);
    let start = match builder.check_heap_limit().and(found) {
        Ok(Ok(range)) => range.start,
        Ok(Err(error)) => return Ok(After::Reply(Reply::None(error))),
        Err(stop) => {
            *value = builder.into_partial();
            return Err(stop);
        }
    };
    let Answer { value, hyphens, .. } = Answer::of(&mut builder, start);
    drop(builder);
    let list = match ask {
        Ask::Value | Ask::Range => return Ok(After::Reply(Reply::Value(value))),
        Ask::Type { list, .. } => list,
    };
    Ok(match object_or_list(heap, value, list) {
        Ok(value) => {
            let hyphens = hyphens.then_some(start);
            After::Judge(Built { value, hyphens })
        }
        Err(unfit) => After::Reply(Reply::Unfit(unfit, value)),
    })
}

fn judged<H: Values>(
    Built { value, hyphens }: Built<H::Term>,
    begun: &mut Option<Box<LeftWalk<H::Term>>>,
    (ask, of): (Ask, H::Term),
    heap: &mut H,
    meter: &mut Meter,
) -> Result<After<H::Term>, Stop> {
    let Ask::Type { report, rules, .. } = ask else {
        return Err(Stop::Abandoned);
    };
    let judge = Judge {
        heap,
        value,
        rules,
        report,
        meter,
    };
    let verdict = match begun.take() {
        None => judge.begin(of),
        Some(walk) => judge.resume(*walk).ok_or(Stop::Abandoned)?,
    };
    Ok(match verdict {
        Verdict::Right => match hyphens {
            Some(start) => After::Rename(value, start),
            None => After::Reply(Reply::Right {
                value,
                found: value,
            }),
        },
        Verdict::Wrong(errors) => After::Reply(Reply::Wrong {
            errors,
            found: value,
        }),
        Verdict::Undecided => After::Reply(Reply::Undecided(value)),
        Verdict::Left(walk) => {
            *begun = Some(walk);
            return Err(Stop::SliceOver);
        }
        Verdict::Busy => return Err(Stop::SliceOver),
        Verdict::Stopped(stop) => return Err(stop),
    })
}

fn renamed<H: Values>(
    (found, start): (H::Term, usize),
    list: bool,
    text: &[u8],
    heap: &mut H,
    meter: &mut Meter,
) -> Result<Reply<H::Term>, Stop> {
    let whole = read_underscored(text, start, Workspace::in_one_go(heap, meter))?;
    Ok(match whole {
        None => Reply::Hyphens(found),
        Some(whole) => {
            let value = object_or_list(heap, whole, list).unwrap_or(found);
            Reply::Right { value, found }
        }
    })
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
