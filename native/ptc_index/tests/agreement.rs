//! The index accepts what the reader accepts, and the tree reads what the reader reads.

use crate::common::{agree, document, Rng};

/// Texts with one fault or none, which are short enough to read.
const TEXTS: &[&str] = &[
    "",
    " ",
    "\n\t\r ",
    "null",
    "true",
    "false",
    " null ",
    "nul",
    "nulll",
    "tru",
    "truex",
    "true1",
    "1true",
    "fals",
    "falsee",
    "True",
    "0",
    "-0",
    "1",
    "-1",
    "01",
    "-01",
    "00",
    "1.",
    ".1",
    "1.0",
    "1.e1",
    "1e",
    "1e+",
    "1e-",
    "1e5",
    "1E+05",
    "1e5.5",
    "1e5e5",
    "1.5.5",
    "--1",
    "+1",
    "1-",
    "1+1",
    "1-1",
    "-",
    "-a",
    "1a",
    "0x1",
    "1e400",
    "-1e400",
    "1e-400",
    "1e308",
    "1.8e308",
    "1.7976931348623157e308",
    "1.7976931348623158e308",
    "1.7976931348623159e308",
    "0e400",
    "0.0e400",
    "-0e400",
    "1e0000000000000000000400",
    "1e00000000000000000005",
    "1e+",
    "1e+400",
    "0.00001e310",
    "Infinity",
    "NaN",
    "\"\"",
    "\"a\"",
    "\"",
    "\"a",
    "a\"",
    "\"a\"b",
    "\"a\" b",
    "\"a\"\"b\"",
    "\"\\\"",
    "\"\\\\\"",
    "\"\\\\\\\"",
    "\"\\a\"",
    "\"\\u\"",
    "\"\\u12\"",
    "\"\\u1234\"",
    "\"\\u12g4\"",
    "\"\\ud83d\\ude00\"",
    "\"\\ud83d\"",
    "\"\\ude00\"",
    "\"\\ud83d\\ud83d\"",
    "\"\\ud83dx\"",
    "\"\\ud83d\\n\"",
    "\"\t\"",
    "\"\u{0}\"",
    "\"\u{7f}\"",
    "\"ä\"",
    "\"\u{1F600}\"",
    "\"\\u00e4\\n\\t\\/\"",
    "\\\"a\"",
    "\"\\",
    "[]",
    "[ ]",
    "{}",
    "{ }",
    "[",
    "]",
    "{",
    "}",
    "[}",
    "{]",
    "[]]",
    "[[]",
    "[1",
    "[1,",
    "[1,]",
    "[,1]",
    "[1,,2]",
    "[1 2]",
    "[1]2",
    "[1] [2]",
    "[1],",
    ",[1]",
    "1,2",
    ",",
    ":",
    "[1:2]",
    "[\"a\":1]",
    "[[],[]]",
    "[[][]]",
    "[{}{}]",
    "{}{}",
    "[1,[2,[3,{\"a\":[4]}]]]",
    "{\"a\":1}",
    "{\"a\"}",
    "{\"a\":}",
    "{\"a\":1,}",
    "{,\"a\":1}",
    "{\"a\":1,\"b\":2}",
    "{\"a\":1 \"b\":2}",
    "{\"a\":1,\"b\"}",
    "{\"a\":\"b\":1}",
    "{\"a\" \"b\"}",
    "{\"a\"::1}",
    "{:1}",
    "{1:1}",
    "{a:1}",
    "{\"a\":1:2}",
    "{\"a\",1}",
    "{\"a\":1;\"b\":2}",
    "{[]:1}",
    "{{}:1}",
    "{\"a\":{}}",
    "{\"a\":[}]",
    "{\"a\":[1,2],\"b\":{\"c\":null}}",
    "{ \"a\" : 1 , \"b\" : [ ] }",
    "{\"a\":1]",
    "[\"a\",\"b\"]",
    "[\"a\" , \"b\" ,]",
    "{\"a\":1,\"a\":2}",
    "{\"a\":1,\"\\u0061\":2}",
    "{\"\\u0061\":1,\"a\":2}",
    "{\"\":1}",
    "{\"a\\\"b\":1}",
    "{\"a\\\\\":1}",
    "\u{feff}[]",
    "[]\u{feff}",
    "[1\u{a0}]",
    "[1,\u{2028}2]",
    "ä",
    "[ä]",
    "/* a */ 1",
    "[1] // a",
    "'a'",
    "[\u{c}]",
    "[1\u{0}]",
    "\u{0}",
];

/// Bytes that make a difference.
const BYTES: &[u8] = b"{}[]:,\"\\0123456789-+.eE truefalsn\n\t\x00\x1f\x80\xc3\xe2\xf0\xff";

/// Every text at every second place, where the next text is at the others; with `PTC_CASES` at every place.
#[test]
fn short_texts_anywhere_in_a_block() {
    let step = match std::env::var_os("PTC_CASES") {
        Some(_) => 1,
        None => 2,
    };
    for (number, text) in TEXTS.iter().enumerate() {
        for pad in (number % step..70).step_by(step) {
            let spaces = " ".repeat(pad);
            agree(format!("{spaces}{text}").as_bytes());
            agree(format!("{spaces}{text}{spaces}").as_bytes());
            // Within a string and two containers, which end in other blocks.
            let letters = "a".repeat(pad);
            agree(format!("[\"{letters}\",{{\"{letters}\":{text}}}]").as_bytes());
            agree(format!("{{\"{letters}\":1,{text}{spaces}}}").as_bytes());
        }
    }
}

#[test]
fn random_documents() {
    let mut rng = Rng::new(1);
    for _ in 0..4_000 {
        let size = 1 + rng.below(60);
        agree(&document(&mut rng, size));
    }
    for _ in 0..60 {
        agree(&document(&mut rng, 3_000));
    }
}

#[test]
fn random_documents_with_a_fault() {
    let mut rng = Rng::new(2);
    for _ in 0..10_000 {
        let size = 1 + rng.below(60);
        let mut text = document(&mut rng, size);
        for _ in 0..1 + rng.below(2) {
            let at = rng.below(text.len());
            let byte = match rng.below(3) {
                0 => rng.below(256) as u8,
                _ => rng.pick(BYTES),
            };
            match rng.below(4) {
                0 => text[at] = byte,
                1 => text.insert(at, byte),
                2 => drop(text.remove(at)),
                _ => text.truncate(at + 1),
            }
            if text.is_empty() {
                break;
            }
        }
        agree(&text);
    }
}

/// Rows of few shapes, whose keys are of all lengths and often begin or end alike.
#[test]
fn rows() {
    let mut rng = Rng::new(6);
    for _ in 0..60 {
        let shapes: Vec<Vec<String>> = (0..1 + rng.below(3))
            .map(|_| {
                let count = rng.pick(&[0, 1, 3, 8, 20, 63, 64, 65, 130]);
                let key = |rng: &mut Rng, at: usize| match rng.below(8) {
                    0 => rng.pick(&["a", "b", "", "a\\\"b", "\\u0061"]).to_string(),
                    1 => format!("{}{at}", "x".repeat(rng.below(20))),
                    2 => format!("{at}{}", "y".repeat(rng.below(20))),
                    _ => format!("k{at}"),
                };
                (0..count).map(|at| key(&mut rng, at)).collect()
            })
            .collect();
        let rows: Vec<String> = (0..1 + rng.below(40))
            .map(|_| {
                let mut keys = shapes[rng.below(shapes.len())].clone();
                if rng.once_in(6) && !keys.is_empty() {
                    let at = rng.below(keys.len());
                    match rng.below(3) {
                        0 => drop(keys.remove(at)),
                        1 => keys.swap(at, 0),
                        _ => keys.insert(at, "a".to_string()),
                    }
                }
                let value = |rng: &mut Rng| {
                    rng.pick(&["1", "\"a\"", "[]", "{\"a\":1}", "[{\"k0\":2}]", "null"])
                };
                let members: Vec<String> = (keys.iter())
                    .map(|key| format!("\"{key}\":{}", value(&mut rng)))
                    .collect();
                format!("{{{}}}", members.join(","))
            })
            .collect();
        agree(format!("[{}]", rows.join(", ")).as_bytes());
    }
}
