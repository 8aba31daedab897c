//! The parsing tests of JSONTestSuite: the index accepts and refuses what the reader does.

use crate::common::{agree, index};

/// One text a line, after its name and a tab; bytes other than printable ASCII are `\xNN`, and `3*a` is `aaa`.
/// The texts are those of <https://github.com/nst/JSONTestSuite>, MIT licence, copyright 2016 Nicolas Seriot.
const SUITE: &str = include_str!("suite.txt");

fn bytes(written: &str) -> Vec<u8> {
    if let Some((times, part)) = written.split_once('*') {
        if let Ok(times) = times.parse() {
            return part.repeat(times).into_bytes();
        }
    }
    let mut bytes = Vec::new();
    let mut rest = written;
    while let Some((before, after)) = rest.split_once('\\') {
        bytes.extend_from_slice(before.as_bytes());
        rest = match after.strip_prefix('x') {
            Some(code) => {
                bytes.push(u8::from_str_radix(&code[..2], 16).expect("two digits"));
                &code[2..]
            }
            None => {
                bytes.push(b'\\');
                &after[1..]
            }
        };
    }
    bytes.extend_from_slice(rest.as_bytes());
    bytes
}

#[test]
fn all_texts() {
    let mut counts = [0; 3];
    for line in SUITE.lines() {
        let (name, written) = line.split_once('\t').expect("a name");
        let text = bytes(written);
        agree(&text);
        let accepted = index(&text).is_ok();
        match &name[..2] {
            "y_" => assert!(accepted, "{name}"),
            "n_" => assert!(!accepted, "{name}"),
            _ => {}
        }
        counts[usize::from(accepted)] += 1;
        counts[2] += 1;
    }
    assert_eq!(counts[2], 318);
    // What the standard leaves open: 95 texts must be accepted.
    assert!(counts[1] >= 95 && counts[0] >= 188, "{counts:?}");
}
