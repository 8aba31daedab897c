//! The fuzz target `signature` on stable Rust: texts made by mutating and crossing valid texts.
//! `PTC_ROUNDS=1000000 cargo test --release --test signatures` runs longer.

use crate::common::{probe, rng::Rng, rounds};
use ptc_type::parse;

/// The initial texts.
const SEEDS: [&str; 10] = [
    "(query :string, options {limit :int?, sort :string?}) -> {results [{id :int}], total :int}",
    "{:id :int :name :string :customer {:id :int}}",
    "[[{a-b :keyword?, _c [:datetime]?}?]?]",
    "() -> :boolean ; a comment\n",
    "{summary :string, count :int, _email_ids [:int]}",
    "{a:int,b{c[:map]}}",
    "(a :any) -> {}",
    " \t\r\n;x\n[:float]?",
    ":integer",
    "{a :int b :int}",
];

/// Pieces that are inserted.
const PIECES: [&[u8]; 20] = [
    b":",
    b"?",
    b"[",
    b"]",
    b"{",
    b"}",
    b"(",
    b")",
    b"->",
    b",",
    b";",
    b"\n",
    b" ",
    b":bool",
    b":boolean",
    b"name",
    b"_",
    b"-",
    b"\xff",
    b"\xe2\x80\x8b",
];

fn changed(random: &mut Rng, pool: &[Vec<u8>]) -> Vec<u8> {
    let mut text = pool[random.below(pool.len())].clone();
    for _ in 0..1 + random.below(4) {
        let at = random.below(text.len() + 1);
        match random.below(5) {
            0 if at < text.len() => text[at] = random.next() as u8,
            1 => {
                let piece = PIECES[random.below(PIECES.len())];
                text.splice(at..at, piece.iter().copied());
            }
            2 => {
                let end = at + random.below(text.len() - at + 1);
                text.drain(at..end);
            }
            3 => {
                let other = &pool[random.below(pool.len())];
                let start = random.below(other.len() + 1);
                text.truncate(at);
                text.extend_from_slice(&other[start..]);
            }
            _ => {
                let end = (at + random.below(8)).min(text.len());
                let part = text[at..end].to_vec();
                text.splice(at..at, part);
            }
        }
    }
    text.truncate(512);
    text
}

#[test]
fn changed_signatures_are_read_or_refused() {
    let mut random = Rng::new(1);
    let mut pool: Vec<Vec<u8>> = SEEDS.map(|text| text.as_bytes().to_vec()).to_vec();
    for _ in 0..rounds(20_000) {
        let text = changed(&mut random, &pool);
        probe::signature(&text);
        if parse(&text).is_ok() {
            // What parses is worth changing further; the pool stays small.
            match pool.len() < 2_000 {
                true => pool.push(text),
                false => pool[random.below(2_000)] = text,
            }
        }
    }
    assert!(pool.len() > 100, "hardly any text was a signature");
}
