//! `similarity/2`: how similar two names are, for suggestions.

use crate::atoms;
use crate::heap::Beam;
use crate::schedule::{charge_for, is_too_long, nif_pair, Pace};
use ptc_term::similar;
use rustler::{Encoder, Env, Term};

/// Maximum number of pairs of letters that a slice compares.
const PAIRS: usize = 100_000;
/// Number of pairs that are compared in a microsecond.
const PAIRS_A_MICROSECOND: usize = 500;

/// `{:ok, similarity}` of two lists of letters, or `:busy`.
fn compare<'a>(env: Env<'a>, names: [Term<'a>; 2], pace: Pace) -> Term<'a> {
    let most = match pace {
        Pace::Quantum => usize::MAX,
        Pace::Probe | Pace::Slice => PAIRS + 1,
    };
    let heap = Beam::new(env, 0);
    let [a, b] = names.map(|name| similar::letters(&heap, name.into(), most));
    let pairs = a.len().saturating_mul(b.len().max(1));
    if is_too_long(pace, pairs, PAIRS) {
        return atoms::busy().encode(env);
    }
    charge_for(env, pace, pairs, PAIRS_A_MICROSECOND);
    (atoms::ok(), similar::similarity(&a, &b)).encode(env)
}

nif_pair! {
    /// The similarity of two lists of letters.
    fn similarity, similarity_dirty<'a>(env, pace, a: Term<'a>, b: Term<'a>) -> Term<'a> {
        compare(env, [a, b], pace)
    }
}
