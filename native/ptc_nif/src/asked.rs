//! The last answers to questions about a compiled program: who asks the same again gets the same answer without new work.
//!
//! An answer is kept when one was not known for the second time, so that what is asked of a program once is not copied anywhere. After
//! that answers are kept more rarely, until one is found again: questions that differ each time cost little more.

use crate::raw::{words, Raw, TermKind, Terms};
use crate::schedule::{charge_for, Pace};
use ptc_term::meter::Limits;
use ptc_vm::explain::Detail;
use rustler::env::{OwnedEnv, SavedTerm};
use rustler::{Env, Term};
use std::sync::Mutex;

/// Maximum words of a question and its answer that are kept.
const MOST_WORDS: usize = 8_192;
/// Words that are compared and copied in a microsecond.
const WORDS_A_MICROSECOND: usize = 100;
/// Of so many questions that differ, the answer of one is kept.
const RARELY: u32 = 32;
/// Number of the details that are kept apart.
const DETAILS: usize = 4;
/// Number of the terms of a question.
const TERMS: usize = 4;

/// What is asked of a program: the terms that it is checked against, and the limits.
pub struct Question<'a> {
    pub detail: Detail,
    pub terms: [Term<'a>; TERMS],
    pub limits: Limits,
}

impl Question<'_> {
    /// The place of its answer; `None` if it is not kept.
    fn place(&self) -> Option<usize> {
        match self.detail {
            Detail::All => Some(0),
            Detail::Findings => Some(1),
            Detail::Plan => Some(2),
            Detail::Recipes => Some(3),
            Detail::Forms => None,
        }
    }
}

/// The last answers of each detail.
#[derive(Default)]
pub struct LastAnswers([Mutex<LastAnswer>; DETAILS]);

#[derive(Default)]
struct LastAnswer {
    kept: Option<Box<KeptAnswer>>,
    /// How often the answer was not known since it was found.
    misses: u32,
}

struct KeptAnswer {
    own: OwnedEnv,
    question: [SavedTerm; TERMS],
    limits: Limits,
    answer: SavedTerm,
    words: usize,
}

impl LastAnswers {
    /// The answer to a question that was asked before.
    pub fn find<'a>(&self, env: Env<'a>, question: &Question<'a>) -> Option<Term<'a>> {
        // A thread that finds the place in use does the work itself.
        let mut place = self.0[question.place()?].try_lock().ok()?;
        let kept = place.kept.as_deref()?;
        if kept.limits != question.limits {
            return None;
        }
        let answer = kept.own.run(|own| {
            let mut pairs = kept.question.iter().zip(question.terms);
            let is_same = pairs.all(|(saved, given)| {
                let saved = Raw::from(saved.load(own));
                Terms { env }.identical(saved, Raw::from(given))
            });
            is_same.then(|| kept.answer.load(own).in_env(env))
        })?;
        charge_for(env, Pace::Slice, kept.words, WORDS_A_MICROSECOND);
        place.misses = 1;
        Some(answer)
    }

    /// Keeps an answer that was not found, if it is time for that and it is not large.
    pub fn keep<'a>(&self, env: Env<'a>, question: &Question<'a>, answer: Term<'a>) {
        let place = question.place().and_then(|at| self.0[at].try_lock().ok());
        let Some(mut place) = place else {
            return;
        };
        place.misses = place.misses.saturating_add(1);
        if !is_time(place.misses) {
            return;
        }
        let mut left = MOST_WORDS;
        let terms = Terms { env };
        let are_small = question
            .terms
            .iter()
            .all(|term| is_small(terms, (*term).into(), Binaries::Short, &mut left));
        if !are_small || !is_small(terms, answer.into(), Binaries::All, &mut left) {
            return;
        }
        let own = OwnedEnv::new();
        place.kept = Some(Box::new(KeptAnswer {
            question: question.terms.map(|term| own.save(term)),
            limits: question.limits,
            answer: own.save(answer),
            words: MOST_WORDS - left,
            own,
        }));
    }
}

/// Whether an answer is kept after so many that were not known.
fn is_time(misses: u32) -> bool {
    match misses {
        0..=1 => false,
        2..=RARELY => misses.is_power_of_two(),
        _ => misses.is_multiple_of(RARELY),
    }
}

/// The binaries that may be in a term.
#[derive(Clone, Copy, PartialEq)]
enum Binaries {
    /// Binaries that are no part of a larger one, which would be kept with them.
    Short,
    All,
}

/// Whether the words of a term's copy are no more than `left`, which becomes less by them. Only what types and answers are made of counts
/// as small; a float in a question does not, because `0.0` and `-0.0` are the same term in some releases of the VM.
fn is_small<'a>(terms: Terms<'a>, term: Raw<'a>, binaries: Binaries, left: &mut usize) -> bool {
    let mut open = vec![term];
    while let Some(term) = open.pop() {
        let words = if let Some((head, tail)) = terms.uncons(term) {
            open.extend([tail, head]);
            2
        } else if let Some(elements) = terms.tuple(term) {
            if elements.len() > *left {
                return false;
            }
            open.extend_from_slice(elements);
            1 + elements.len()
        } else if let Some((keys, values)) = words::small_map(term).filter(|_| words::known()) {
            open.extend(keys.iter().chain(values));
            5 + 2 * keys.len()
        } else if let Some(bytes) = words::short_binary(term) {
            2 + bytes.len().div_ceil(8)
        } else {
            match terms.kind(term) {
                TermKind::Atom => 0,
                TermKind::List if terms.is_empty_list(term) => 0,
                TermKind::Integer if words::known() && words::is_immediate(term) => 0,
                TermKind::Float if binaries == Binaries::All => 2,
                TermKind::Binary if binaries == Binaries::All => match terms.bytes(term) {
                    Some(bytes) => 8 + bytes.len() / 8,
                    None => return false,
                },
                _ => return false,
            }
        };
        match left.checked_sub(words) {
            Some(less) => *left = less,
            None => return false,
        }
    }
    true
}
