//! An answer from its text to its value, or to its errors: finds the JSON, builds it and judges it.

use super::check::Ignore;
use super::coercion::{coerced, Coerced};
use super::judge::{Errors, Judge, Report, Verdict};
use super::read::{read_underscored, Answer, NoAnswer, Search};
use ptc_json::{PartialValue, TermBuilder};
use ptc_term::heap::{Heap, Kind, Lookup};
use ptc_term::job::Job;
use ptc_term::meter::{Meter, Pace};
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
        /// A value of another type is coerced, if its keys are the declared ones.
        coerce: bool,
    },
}

/// A value as it stands in the text, with its keys.
#[derive(Debug, Clone, Copy)]
pub struct Found<T> {
    /// The value; the list, if it was wrapped.
    pub value: T,
    /// What is known of its keys.
    pub keys: Keys,
    /// The offsets at which the JSON begins and ends.
    pub range: (usize, usize),
}

rooted!(Found { terms: value; plain: keys, range });

/// What is known of the keys of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keys {
    /// Each object that has fields by its type has the declared keys only, and no key has a hyphen.
    Declared,
    /// No key has a hyphen.
    Plain,
    /// Some key has a hyphen.
    Hyphens,
}

/// What was found.
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
        /// As it stands in the text.
        found: Found<T>,
    },
    /// A value that was coerced to the type.
    Coerced {
        /// The value.
        value: T,
        /// The warnings, as a list of texts.
        warnings: T,
        /// As it stands in the text.
        found: Found<T>,
    },
    /// A value of the type, in which two keys would become equal.
    Hyphens(Found<T>),
    /// A value that does not have the type.
    Wrong {
        /// Its errors.
        errors: Errors<T>,
        /// As it stands in the text.
        found: Found<T>,
    },
    /// An object, or a list, that only Elixir can judge.
    Undecided(Found<T>),
    /// A value of which no type is asked.
    Unfit(Unfit, Found<T>),
    /// No value.
    None(NoAnswer),
}

/// Per cent of a slice after which another walk over the value is left to a quantum.
const A_WALK: i32 = 25;

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
    /// Validating the value; its errors are wanted at once, or only if it cannot be coerced.
    Judge(Found<T>, Option<Box<LeftWalk<T>>>, Telling),
    /// Coercing the value.
    Coerce(Found<T>, Option<Box<LeftWalk<T>>>),
    /// The value is valid; its keys are rebuilt with underscores.
    Rename(Found<T>),
}

/// What a check tells of a wrong value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Telling {
    Errors,
    Nothing,
}

impl<T> Rooted for Stage<T> {
    type Term = T;
    type With<U> = Stage<U>;

    fn exchange<X: Exchange<T>>(self, by: &mut X) -> Result<Stage<X::Into>, X::Lost> {
        Ok(match self {
            Stage::Search(search, value) => Stage::Search(search, value.exchange(by)?),
            Stage::Judge(found, begun, wanted) => {
                Stage::Judge(found.exchange(by)?, begun.exchange(by)?, wanted)
            }
            Stage::Coerce(found, begun) => Stage::Coerce(found.exchange(by)?, begun.exchange(by)?),
            Stage::Rename(found) => Stage::Rename(found.exchange(by)?),
        })
    }
}

/// What follows a stage.
enum After<T> {
    Judge(Found<T>, Telling),
    Coerce(Found<T>),
    Rename(Found<T>),
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
                (Stage::Judge(found, begun, wanted), ask) => {
                    judged((found, *wanted), begun, (ask, self.of), heap, meter)?
                }
                (Stage::Coerce(found, begun), _) => coerce(*found, begun, self.of, heap, meter)?,
                (Stage::Rename(found), Ask::Type { list, .. }) => {
                    return renamed(*found, list, text, heap, meter)
                }
            };
            let was_judged = !matches!(self.stage, Stage::Search(..));
            self.stage = match after {
                After::Judge(found, wanted) => Stage::Judge(found, None, wanted),
                After::Coerce(found) => Stage::Coerce(found, None),
                After::Rename(found) => Stage::Rename(found),
                After::Reply(reply) => return Ok(reply),
            };
            // Each walk has a slice of its own.
            if was_judged && meter.pace() != Pace::Quantum && meter.percent_of_slice() > A_WALK {
                return Err(Stop::SliceOver);
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
    let range = match builder.check_heap_limit().and(found) {
        Ok(Ok(range)) => range,
        Ok(Err(error)) => return Ok(After::Reply(Reply::None(error))),
        Err(stop) => {
            *value = builder.into_partial();
            return Err(stop);
        }
    };
    let Answer { value, hyphens, .. } = Answer::of(&mut builder, range.start);
    drop(builder);
    let (list, coerce) = match ask {
        Ask::Value | Ask::Range => return Ok(After::Reply(Reply::Value(value))),
        Ask::Type { list, coerce, .. } => (list, coerce),
    };
    let keys = match hyphens {
        true => Keys::Hyphens,
        false => Keys::Plain,
    };
    let range = (range.start, range.end);
    let wanted = match coerce && !hyphens {
        true => Telling::Nothing,
        false => Telling::Errors,
    };
    Ok(match object_or_list(heap, value, list) {
        Ok(value) => After::Judge(Found { value, keys, range }, wanted),
        Err(unfit) => After::Reply(Reply::Unfit(unfit, Found { value, keys, range })),
    })
}

fn judged<H: Values>(
    (found, wanted): (&mut Found<H::Term>, Telling),
    begun: &mut Option<Box<LeftWalk<H::Term>>>,
    (ask, of): (Ask, H::Term),
    heap: &mut H,
    meter: &mut Meter,
) -> Result<After<H::Term>, Stop> {
    let Ask::Type {
        report,
        rules,
        coerce,
        ..
    } = ask
    else {
        return Err(Stop::Abandoned);
    };
    let judge = Judge {
        heap,
        value: found.value,
        rules,
        report: match wanted {
            Telling::Errors => report,
            Telling::Nothing => Report::Nothing,
        },
        meter,
    };
    let mut declared = false;
    let verdict = match begun.take() {
        None => judge.begin_with_keys(of, &mut declared),
        Some(walk) => judge
            .resume_with_keys(*walk, &mut declared)
            .ok_or(Stop::Abandoned)?,
    };
    // Behind a coercion the keys are known.
    let is_first = wanted == Telling::Nothing || !coerce;
    if declared && is_first && found.keys == Keys::Plain {
        found.keys = Keys::Declared;
    }
    let found = *found;
    Ok(match verdict {
        Verdict::Right if found.keys == Keys::Hyphens => After::Rename(found),
        Verdict::Right => After::Reply(Reply::Right {
            value: found.value,
            found,
        }),
        Verdict::Wrong(_) if wanted == Telling::Nothing => match found.keys {
            Keys::Declared => After::Coerce(found),
            _ => After::Judge(found, Telling::Errors),
        },
        Verdict::Wrong(errors) => After::Reply(Reply::Wrong { errors, found }),
        Verdict::Undecided => After::Reply(Reply::Undecided(found)),
        Verdict::Left(walk) => {
            *begun = Some(walk);
            return Err(Stop::SliceOver);
        }
        Verdict::Busy => return Err(Stop::SliceOver),
        Verdict::Stopped(stop) => return Err(stop),
    })
}

fn coerce<H: Values>(
    mut found: Found<H::Term>,
    begun: &mut Option<Box<LeftWalk<H::Term>>>,
    of: H::Term,
    heap: &mut H,
    meter: &mut Meter,
) -> Result<After<H::Term>, Stop> {
    let left = begun.take().map(|left| *left);
    Ok(match coerced(heap, (found.value, of), left, meter) {
        Coerced::Value(value, warnings) => After::Reply(Reply::Coerced {
            value,
            warnings,
            found,
        }),
        Coerced::None => After::Judge(found, Telling::Errors),
        // A value with the declared keys was tried here.
        Coerced::Unknown => {
            found.keys = Keys::Plain;
            After::Judge(found, Telling::Errors)
        }
        Coerced::Left(walk) => {
            *begun = Some(walk);
            return Err(Stop::SliceOver);
        }
        Coerced::Busy => return Err(Stop::SliceOver),
        Coerced::Stopped(stop) => return Err(stop),
    })
}

fn renamed<H: Values>(
    found: Found<H::Term>,
    list: bool,
    text: &[u8],
    heap: &mut H,
    meter: &mut Meter,
) -> Result<Reply<H::Term>, Stop> {
    let whole = read_underscored(text, found.range.0, Workspace::in_one_go(heap, meter))?;
    Ok(match whole {
        None => Reply::Hyphens(found),
        Some(whole) => {
            let value = object_or_list(heap, whole, list).unwrap_or(found.value);
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
