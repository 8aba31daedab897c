//! The targets of `fuzz/` on stable Rust, for a bounded time.
//!
//! `PTC_ROUNDS=1000000 cargo test --release --test random` runs longer.

use crate::common::rng::Rng;
use crate::common::{answers, codec, generate, probe, rounds};

#[test]
fn the_reader_agrees_with_serde_json() {
    let mut rng = Rng::new(1);
    for _ in 0..rounds(20_000) {
        let text = generate::json(&mut rng, 4);
        probe::reader(text.as_bytes());
        probe::reader(&generate::mutated(&mut rng, &text));
    }
}

#[test]
fn random_bytes_are_read_or_refused() {
    let mut rng = Rng::new(2);
    for _ in 0..rounds(20_000) {
        let text: Vec<u8> = (0..rng.below(12)).map(|_| rng.next() as u8).collect();
        probe::reader(&text);
        probe::program(&text);
    }
}

#[test]
fn a_program_ends_the_same_way_however_it_is_given_and_left() {
    let mut rng = Rng::new(3);
    for _ in 0..rounds(5_000) {
        probe::program(generate::program(&mut rng, 3).as_bytes());
    }
}

#[test]
fn a_spoiled_program_ends_the_same_way_too() {
    let mut rng = Rng::new(4);
    for _ in 0..rounds(10_000) {
        let text = generate::program(&mut rng, 2);
        let spoiled = generate::mutated(&mut rng, &text);
        probe::reader(&spoiled);
        probe::program(&spoiled);
    }
}

#[test]
fn answers_are_found_or_refused_whole_and_in_chunks() {
    let mut rng = Rng::new(5);
    for _ in 0..rounds(20_000) {
        let text = answers::answer(&mut rng, |rng| generate::json(rng, 3));
        answers::extractor(&text);
        answers::stream(&text);
        let text = String::from_utf8_lossy(&text).into_owned();
        let spoiled = generate::mutated(&mut rng, &text);
        answers::extractor(&spoiled);
        answers::stream(&spoiled);
    }
}

#[test]
fn a_value_that_was_written_reads_the_same() {
    let mut rng = Rng::new(6);
    for _ in 0..rounds(20_000) {
        codec::round_trip(generate::json(&mut rng, 4).as_bytes());
    }
}

#[test]
fn any_term_is_a_program_that_ends_the_same_way_wherever_it_is_left() {
    let mut rng = Rng::new(7);
    for _ in 0..rounds(5_000) {
        let bytes: Vec<u8> = (0..rng.below(40)).map(|_| rng.next() as u8).collect();
        probe::program_of_terms(&bytes);
    }
}
