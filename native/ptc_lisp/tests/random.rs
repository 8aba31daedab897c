//! Random programs and texts: they are read, analyzed and run without a panic, and have the same end in executions of any length.
//! `PTC_CASES` takes so many times more.

use crate::probing::{analyzes, generate, reads, runs};
use std::hash::{BuildHasher, RandomState};

/// Programs of a run.
const PROGRAMS: u64 = 800;

fn seed() -> u64 {
    let given = std::env::var("PTC_SEED")
        .ok()
        .and_then(|text| text.parse().ok());
    given.unwrap_or_else(|| RandomState::new().hash_one(0) % 1_000_000)
}

fn cases() -> u64 {
    let times = std::env::var("PTC_CASES")
        .ok()
        .and_then(|text| text.parse().ok());
    PROGRAMS * times.unwrap_or(1_u64)
}

/// Bytes from a seed (SplitMix64).
fn bytes(seed: u64, count: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mut next = || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) as u8
    };
    (0..count).map(|_| next()).collect()
}

#[test]
fn programs_have_the_same_end_in_executions_of_any_length() {
    let seed = seed();
    println!("PTC_SEED={seed}");
    for case in 0..cases() {
        runs(&generate::program(&bytes(
            seed + case,
            20 + (case % 60) as usize,
        )));
    }
}

#[test]
fn texts_that_are_nearly_programs_are_read_and_analyzed() {
    let seed = seed();
    println!("PTC_SEED={seed}");
    for case in 0..cases() {
        let choices = bytes(seed + case, 60);
        let mut text: Vec<char> = generate::program(&choices).chars().collect();
        for change in choices.chunks(7) {
            let at = usize::from(change[0]) * 7 % (text.len() + 1);
            match change[0] % 3 {
                0 => text.insert(at, char::from(change[0] / 2)),
                1 if at < text.len() => drop(text.remove(at)),
                _ => text.truncate(text.len().max(40) - 1),
            }
        }
        let text: String = text.into_iter().collect();
        reads(&text);
        analyzes(&text);
        runs(&text);
    }
}
