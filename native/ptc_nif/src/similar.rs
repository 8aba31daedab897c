//! `nearest/2`: which of many names is most similar to a word, for suggestions.

use crate::atoms;
use crate::heap::Beam;
use crate::schedule::{charge_for, nif_pair, Pace};
use ptc_term::heap::Heap;
use ptc_term::similar::similarity;
use ptc_text::cuts;
use rustler::{Encoder, Env, Term};
use std::convert::Infallible;

/// Maximum number of pairs of bytes that a slice compares.
const PAIRS: usize = 100_000;
/// Number of slices whose work a call on a dirty scheduler does.
const SLICES: usize = 20;
/// Number of pairs that are compared in a microsecond.
const PAIRS_A_MICROSECOND: usize = 500;

/// The graphemes of a name.
fn letters(text: &[u8]) -> Vec<&[u8]> {
    // Of ASCII, only a line break of two characters is one grapheme.
    if text.is_ascii() && !text.contains(&b'\r') {
        return text.chunks(1).collect();
    }
    let (mut at, mut piece, mut ends) = (0, 0, Vec::new());
    while at < text.len() {
        let Ok(()) = cuts::<Infallible>(text, &mut at, &mut piece, &mut ends, |_| Ok(()));
    }
    let starts = std::iter::once(0).chain(ends.iter().copied());
    let letters = starts.zip(&ends).map(|(start, end)| &text[start..*end]);
    letters.collect()
}

/// `{:ok, {name, similarity} | nil, rest}` with the first of the most similar names, and the names that were not compared;
/// or `:busy`, if the first name is too long for a slice.
fn nearest_of<'a>(env: Env<'a>, word: Term<'a>, names: Term<'a>, pace: Pace) -> Term<'a> {
    let most = match pace {
        Pace::Quantum => SLICES * PAIRS,
        Pace::Probe | Pace::Slice => PAIRS,
    };
    let heap = Beam::new(env, 0);
    let bytes = heap.bytes(word.into()).unwrap_or_default();
    // The pairs of a name are counted before anything is read, and the letters of the word only if they are used.
    let (mut rest, mut pairs, mut word, mut best) = (names.into(), 0_usize, None, None);
    while let Some((name, others)) = heap.uncons(rest) {
        let text = heap.bytes(name).unwrap_or_default();
        let more = (bytes.len() + 1).saturating_mul(text.len() + 1);
        if pairs.saturating_add(more) > most {
            if pairs > 0 {
                break;
            }
            if pace != Pace::Quantum {
                return atoms::busy().encode(env);
            }
        }
        pairs = pairs.saturating_add(more);
        let score = similarity(word.get_or_insert_with(|| letters(bytes)), &letters(text));
        if best.is_none_or(|(_, most)| score > most) {
            best = Some((name, score));
        }
        rest = others;
    }
    charge_for(env, pace, pairs, PAIRS_A_MICROSECOND);
    let rest = match heap.uncons(rest) {
        Some(_) => rest.term(env),
        None => Vec::<Term>::new().encode(env),
    };
    let best = best.map(|(name, score)| (name.term(env), score));
    (atoms::ok(), best, rest).encode(env)
}

nif_pair! {
    /// The most similar of many names.
    fn nearest, nearest_dirty<'a>(env, pace, word: Term<'a>, names: Term<'a>) -> Term<'a> {
        nearest_of(env, word, names, pace)
    }
}
