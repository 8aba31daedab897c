//! `weigh/3`: counts the words of a copy of terms.

use crate::atoms;
use crate::heap::Beam;
use crate::raw::{Raw, Terms};
use crate::schedule::{nif_pair, settle, Pace};
use crate::task::{Call, Work};
use ptc_term::meter::Limits;
use ptc_term::stop::Stop;
use ptc_term::suspend::{freeze, thaw};
use ptc_term::weight::Weighing;
use rustler::{Encoder, Env, Term};

/// `{:ok, words}`, including those given; `:too_much` beyond the limit; `{:opaque, terms, words}` if the parts
/// of these terms are still to be weighed; `:busy` if a slice is not enough, or
/// `{:long, state, terms}` after a quantum.
pub fn weighed<'a>(
    env: Env<'a>,
    pending: Term<'a>,
    words: usize,
    limit: usize,
    pace: Pace,
) -> Term<'a> {
    let (terms, mut rest) = (Terms { env }, Raw::from(pending));
    let pending = std::iter::from_fn(|| {
        let (term, tail) = terms.uncons(rest)?;
        rest = tail;
        Some(term)
    });
    let call = Call::first(env, Limits::UNLIMITED, pace);
    weigh_on(call, Weighing::new(pending, words, limit))
}

impl Work for Weighing<()> {
    fn resume<'a>(self: Box<Self>, call: Call<'a>, terms: &[Raw<'a>]) -> Option<Term<'a>> {
        let heap = Beam::new(call.env, 0);
        let weighing = thaw(*self, &heap, &mut terms.iter().copied())?;
        Some(weigh_on(call, weighing))
    }

    fn needs_quantum(&self) -> bool {
        true
    }
}

fn weigh_on<'a>(call: Call<'a>, mut weighing: Weighing<Raw<'a>>) -> Term<'a> {
    let env = call.env;
    let (mut heap, mut meter) = (Beam::new(env, 0), call.meter());
    let end = weighing.run(&heap, &mut meter);
    settle(env, &meter);
    match end {
        Ok(()) => match weighing.opaque(&mut heap) {
            None => (atoms::ok(), weighing.words()).encode(env),
            Some(terms) => (atoms::opaque(), terms.term(env), weighing.words()).encode(env),
        },
        Err(Stop::SliceOver) if call.pace != Pace::Quantum => atoms::busy().encode(env),
        Err(Stop::SliceOver) => {
            let mut terms = Vec::new();
            let weighing = freeze(weighing, &mut heap, &mut terms);
            call.more(weighing, &terms).encode(env)
        }
        // Or the caller has ended.
        Err(_) => atoms::too_much().encode(env),
    }
}

nif_pair! {
    /// Weighs the terms of a list; their words are added to `words`.
    fn weigh, weigh_dirty<'a>(env, pace, pending: Term<'a>, words: usize, limit: usize) -> Term<'a> {
        weighed(env, pending, words, limit, pace)
    }
}
