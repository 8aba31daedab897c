//! Prints how fast texts are indexed and validated, with and without vectors: `cargo run --release -p ptc_index --example speed [FILE…]`.

use ptc_index::classes::{scalar::Scalar, Classify, Fastest};
use ptc_index::{Hint, Indexer, Members, Tree};
use std::fmt::Write;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Bytes of a made text.
const LENGTH: usize = 17_000_000;
/// Bytes of a quantum.
const QUANTUM: usize = 256 * 1024;

fn main() {
    let files = std::env::args().skip(1);
    let mut texts: Vec<_> = files
        .map(|path| {
            let text = std::fs::read(&path).expect("a file");
            (path, text)
        })
        .collect();
    if texts.is_empty() {
        texts = made();
    }
    println!(
        "{:<22} {:>8} {:>10} {:>10} {:>8} {:>12} {:>12}",
        "text", "MB", "vectors", "scalar", "index", "field/row", "3 fields/row"
    );
    for (name, text) in texts {
        let vectors = speed::<Fastest>(&text);
        let scalar = speed::<Scalar>(&text);
        let mut indexer = Indexer::new(text.len(), usize::MAX).expect("it is short");
        let Ok(Some(index)) = indexer.step(&text, usize::MAX) else {
            println!("{name:<22} is not valid");
            continue;
        };
        let share = index.bytes() as f64 / text.len() as f64;
        let tree = Tree::new(&text, &index);
        let one = rows(tree, &[b"amount"]);
        let three = rows(tree, &[b"amount", b"status", b"region"]);
        println!(
            "{name:<22} {:>8.1} {vectors:>5.2} GB/s {scalar:>5.2} GB/s {share:>8.3} {one:>9.1} ns {three:>9.1} ns",
            text.len() as f64 / 1e6,
        );
    }
}

/// Returns the speed in GB a second: the sum of the best times of each quantum, of many passes. So other work of the machine does not
/// count.
fn speed<C: Classify>(text: &[u8]) -> f64 {
    let mut best = vec![Duration::MAX; text.len() / QUANTUM + 2];
    let until = Instant::now() + Duration::from_secs(1);
    while Instant::now() < until {
        let mut begin = Instant::now();
        let mut indexer = Indexer::new(text.len(), usize::MAX).expect("it is short");
        for best in &mut best {
            let step = indexer.step_with::<C>(black_box(text), QUANTUM);
            let end = Instant::now();
            *best = (*best).min(end - begin);
            begin = end;
            if !matches!(step, Ok(None)) {
                break;
            }
        }
        black_box(indexer);
    }
    let best = best.iter().filter(|time| **time < Duration::MAX);
    text.len() as f64 / best.sum::<Duration>().as_nanos() as f64
}

/// Rows of which the best time counts.
const ROWS: usize = 1_000;

/// Returns the nanoseconds to read fields of each row of a list.
fn rows(tree: Tree, names: &[&[u8]]) -> f64 {
    let mut best: Vec<Duration> = Vec::new();
    let mut count = 0_usize;
    for _ in 0..10 {
        let mut members = Members::default();
        let mut hints = vec![Hint::default(); names.len()];
        let mut begin = Instant::now();
        let mut found = 0_usize;
        count = 0;
        let mut row = tree.first_child(tree.root());
        while let Some(node) = row {
            row = tree.next_sibling(node);
            for (name, hint) in names.iter().zip(&mut hints) {
                found += usize::from(members.field(tree, node, name, hint).is_some());
            }
            count += 1;
            if count.is_multiple_of(ROWS) || row.is_none() {
                let end = Instant::now();
                let place = (count - 1) / ROWS;
                match best.get_mut(place) {
                    Some(best) => *best = (*best).min(end - begin),
                    None => best.push(end - begin),
                }
                begin = end;
            }
        }
        black_box(found);
    }
    best.iter().sum::<Duration>().as_nanos() as f64 / count.max(1) as f64
}

fn made() -> Vec<(String, Vec<u8>)> {
    let mut rows = String::from("[");
    let mut pretty = String::from("[\n");
    let mut words = String::from("[");
    let mut at = 0_u64;
    while rows.len() < LENGTH {
        at += 1;
        let random = at.wrapping_mul(6_364_136_223_846_793_005) >> 20;
        let status = ["active", "pending", "closed", "open"][random as usize % 4];
        let region = ["north", "south", "east", "west", "central"][random as usize % 5];
        let (amount, cents, paid) = (random % 100_000, random % 97, random.is_multiple_of(3));
        let _ = write!(
            rows,
            r#"{{"id":{at},"name":"Customer {at}","status":"{status}","region":"{region}","amount":{amount}.{cents:02},"count":{},"paid":{paid},"created_at":"2024-0{}-1{}T08:30:00Z"}},"#,
            random % 50,
            1 + random % 9,
            random % 9,
        );
        let _ = write!(
            pretty,
            "  {{\n    \"id\": {at},\n    \"name\": \"Kundin Nö {at}\",\n    \"status\": \"{status}\",\n    \"amount\": {amount}.{cents:02}\n  }},\n"
        );
        let _ = write!(
            words,
            r#""line {at}:\t\"{status}\" \u00e4 C:\\dir\\{region}\n","#
        );
    }
    let close = |mut text: String| {
        text.push_str("0]");
        text.into_bytes()
    };
    let repeated = |part: &str, first: &str, last: &str| {
        let mut text = String::from(first);
        for _ in 0..LENGTH / part.len() {
            text.push_str(part);
        }
        text.push_str(last);
        text.into_bytes()
    };
    let half = LENGTH / 2;
    let deep = format!("{}{}", "[".repeat(half), "]".repeat(half)).into_bytes();
    let mut objects = String::new();
    let mut ends = String::new();
    while objects.len() < LENGTH {
        let _ = write!(objects, r#"{{"key":"value","number":17,"next":"#);
        ends.push('}');
    }
    let objects = format!("{objects}null{ends}").into_bytes();
    vec![
        ("rows of 8 fields".into(), close(rows)),
        ("pretty rows, UTF-8".into(), close(pretty)),
        ("strings with escapes".into(), close(words)),
        ("only escapes".into(), repeated(r"\n\\", "\"", "\"")),
        (
            "only \\u escapes".into(),
            repeated(r"\u00e4\u20ac", "\"", "\""),
        ),
        ("floats".into(), repeated("-12.345678,3.5e-7,", "[", "0]")),
        ("one object, deep".into(), objects),
        ("only brackets".into(), deep),
        ("empty objects".into(), repeated("{},", "[", "0]")),
        (
            "one string".into(),
            repeated("0123456789abcdef", "\"", "\""),
        ),
        (
            "one string, Chinese".into(),
            repeated("统计数据", "\"", "\""),
        ),
    ]
}
