//! Answers of tools that are kept outside of the process of the tools, which may be killed in its next call.

use crate::atoms;
use crate::clock::nif;
use rustler::env::{OwnedEnv, SavedTerm};
use rustler::{Atom, Encoder, Env, NifResult, Resource, ResourceArc, Term};
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Words and number of the answers that one call takes out, which are copied at once.
const MOST_WORDS: usize = 65_536;
const MOST_ANSWERS: usize = 2_048;

const NANOSECONDS_A_SECOND: u32 = 1_000_000_000;

/// Answers with their times, until they are taken out.
pub struct KeptAnswers {
    began: Instant,
    /// The time of the VM then, and its units in a second.
    since: i64,
    units: u32,
    answers: Mutex<Answers>,
}

#[rustler::resource_impl]
impl Resource for KeptAnswers {}

#[derive(Default)]
struct Answers {
    terms: OwnedEnv,
    /// The oldest first: the answer, its words, and its time.
    kept: VecDeque<(SavedTerm, usize, i64)>,
    is_over: bool,
}

impl KeptAnswers {
    /// The time of the VM now.
    fn now(&self) -> i64 {
        let passed = self.began.elapsed();
        let passed = match self.units {
            NANOSECONDS_A_SECOND => passed.as_nanos(),
            units => passed.as_nanos() * u128::from(units) / u128::from(NANOSECONDS_A_SECOND),
        };
        self.since
            .saturating_add(i64::try_from(passed).unwrap_or(i64::MAX))
    }

    fn add(&self, answer: Term, words: usize) {
        // Its caller takes the answers out only when the process was stopped, or waits.
        let Ok(mut answers) = self.answers.try_lock() else {
            return;
        };
        if !answers.is_over {
            let term = answers.terms.save(answer);
            answers.kept.push_back((term, words, self.now()));
        }
    }

    /// Takes out answers, and says whether there are more.
    fn take<'a>(&self, env: Env<'a>) -> (bool, Vec<Term<'a>>) {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        let Answers {
            terms,
            kept,
            is_over,
        } = &mut *answers;
        *is_over = true;
        let (mut taken, mut left) = (Vec::with_capacity(kept.len().min(MOST_ANSWERS)), MOST_WORDS);
        while let (true, Some((term, words, at))) = (taken.len() < MOST_ANSWERS, kept.front()) {
            if *words > left && !taken.is_empty() {
                break;
            }
            left = left.saturating_sub(*words);
            let answer = terms.run(|own| term.load(own).in_env(env));
            taken.push((answer, *words, *at).encode(env));
            kept.pop_front();
        }
        if kept.is_empty() {
            terms.clear();
        }
        (!kept.is_empty(), taken)
    }
}

nif! {
    /// A place for answers. `since`: the time of the VM now; `units`: its units in a second.
    fn keep_answers<'a>(_env, since: i64, units: u32) -> ResourceArc<KeptAnswers> {
        ResourceArc::new(KeptAnswers {
            began: Instant::now(),
            since,
            units,
            answers: Mutex::default(),
        })
    }
}

nif! {
    /// Keeps an answer of so many words, with the time now. Nothing is kept once answers were taken out.
    fn keep_answer<'a>(_env, place: ResourceArc<KeptAnswers>, answer: Term<'a>, words: usize) -> Atom {
        place.add(answer, words);
        atoms::ok()
    }
}

nif! {
    /// The time of the VM now, by the clock of the place.
    fn kept_time<'a>(_env, place: ResourceArc<KeptAnswers>) -> i64 {
        place.now()
    }
}

nif! {
    /// `{more?, [{answer, words, time}]}`: takes out the first answers.
    fn kept_answers<'a>(env, place: ResourceArc<KeptAnswers>) -> NifResult<Term<'a>> {
        Ok(place.take(env).encode(env))
    }
}
