//! Programs over JSON texts that are not decoded end as over what the texts are decoded to.

use crate::common::lazy::{context, same, ANY_KEYS, LIMITS, VALUES};
use crate::common::rng::Rng;
use crate::common::{generate, rounds, STRICT, UNCHECKED};
use ptc_term::meter::Limits;

#[test]
fn random_programs_over_random_texts() {
    let mut rng = Rng::new(27);
    for round in 0..rounds(500) {
        let program = generate::program(&mut rng, 3);
        let texts = context(&mut rng);
        let options = [STRICT, UNCHECKED, ANY_KEYS, VALUES][round % 4];
        same(&program, &texts, options, LIMITS, &mut rng);
    }
}

#[test]
fn a_tight_heap_limit_stops_a_run_and_breaks_nothing() {
    let mut rng = Rng::new(28);
    for _ in 0..rounds(100) {
        let program = generate::program(&mut rng, 3);
        let texts = context(&mut rng);
        let words = rng.below(400);
        let limits = Limits { words, ..LIMITS };
        same(&program, &texts, STRICT, limits, &mut rng);
    }
}
