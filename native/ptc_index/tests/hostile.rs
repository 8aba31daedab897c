//! Large and hostile texts: the index is right, small, and read in linear time.

use crate::common::{agree, index, index_within, Rng};
use ptc_index::{Indexer, Invalid, Tree};
use ptc_json::{JsonLimits, Table};

/// Indexes a text that is too large for the reader's table, and checks the size of what it takes at any time.
fn large(text: &[u8]) -> Result<ptc_index::Index, Invalid> {
    let mut indexer = Indexer::new(text.len(), usize::MAX).expect("it is short");
    let mut most = 0;
    let index = loop {
        if let Some(index) = indexer.step(text, 256 * 1024)? {
            break index;
        }
        most = most.max(indexer.bytes());
    };
    let bound = text.len() / 4 + 300;
    assert!(
        most <= bound && index.bytes() <= bound,
        "{most} {}",
        index.bytes()
    );
    Ok(index)
}

#[test]
fn ten_million_brackets() {
    let half = 5_000_000;
    let text = format!("{}{}", "[".repeat(half), "]".repeat(half));
    let index = large(text.as_bytes()).expect("it is valid");
    let tree = Tree::new(text.as_bytes(), &index);
    let mut rng = Rng::new(3);
    for _ in 0..1_000 {
        let depth = rng.below(half);
        assert_eq!(tree.close(depth as u32) as usize, 2 * half - 1 - depth);
    }
    assert_eq!(tree.len(0), 1);
    // One is missing, one is too many, one is of the other kind.
    assert_eq!(large(&text.as_bytes()[1..]), Err(Invalid));
    assert_eq!(large(&text.as_bytes()[..2 * half - 1]), Err(Invalid));
    assert_eq!(large("[".repeat(2 * half).as_bytes()), Err(Invalid));
    let mut other = text.into_bytes();
    other[half + 1_000] = b'}';
    assert_eq!(large(&other), Err(Invalid));
}

#[test]
fn the_limit_of_depth() {
    for depth in [1, 2, 63, 64, 65, 128, 129, 1_000, 70_000] {
        for object in [false, true] {
            let (open, close) = if object { ("{\"a\":", "}") } else { ("[", "]") };
            let text = format!("{}1{}", open.repeat(depth), close.repeat(depth));
            let text = text.as_bytes();
            assert!(index_within(text, depth).is_ok(), "{depth}");
            assert!(index_within(text, depth - 1).is_err(), "{depth}");
            assert!(Table::parse(text, JsonLimits::depth(depth)).is_ok());
            assert!(Table::parse(text, JsonLimits::depth(depth - 1)).is_err());
        }
    }
}

#[test]
fn ten_million_empty_objects() {
    let mut text = "{},".repeat(10_000_000);
    text.insert(0, '[');
    text.push_str("{}]");
    let index = large(text.as_bytes()).expect("it is valid");
    let tree = Tree::new(text.as_bytes(), &index);
    assert_eq!(tree.close(0) as usize, text.len() - 1);
    assert_eq!(tree.len(0), 10_000_001);
}

#[test]
fn one_string_of_20_mb() {
    let mut text = vec![b'a'; 20_000_000];
    let end = text.len() - 1;
    (text[0], text[end]) = (b'"', b'"');
    let index = large(&text).expect("it is valid");
    let tree = Tree::new(&text, &index);
    assert_eq!(tree.content(tree.root()).range, 1..end);
    text[end] = b'a';
    assert_eq!(large(&text), Err(Invalid));
    // The parts of a string are read alike.
    let end = 9_999_999;
    text.truncate(end + 1);
    (text[end], text[end / 2]) = (b'"', b'\n');
    assert_eq!(large(&text), Err(Invalid));
    text[end / 2] = 0xC3;
    assert_eq!(large(&text), Err(Invalid));
}

#[test]
fn only_escapes() {
    for part in [
        r"\n",
        r"\\",
        r#"\""#,
        r"\u0000",
        r"\ud83d\ude00",
        r"\uFFFF\/",
        "ä\\t",
    ] {
        for count in [1, 10, 11, 63, 64, 100, 1_000] {
            let text = format!("{{\"{0}\":[\"{0}\",\"x{0}\"]}}", part.repeat(count));
            agree(text.as_bytes());
            // Cut anywhere in the last escape.
            for end in 1..=part.len() {
                let cut = text.len() - 3 - end;
                if text.is_char_boundary(cut) {
                    agree(format!("{}\"]}}", &text[..cut]).as_bytes());
                }
            }
        }
    }
    for lone in [
        r"\ud83d",
        r"\ude00",
        r"\ud83d\ud83d\ude00",
        r"\ud83d\u0041",
        r"\u00",
        r"\x",
        r"\U0041",
    ] {
        for pad in 0..130 {
            agree(format!("[\"{}{lone}\"]", "a".repeat(pad)).as_bytes());
        }
    }
}

#[test]
fn runs_of_backslashes_across_blocks() {
    for pad in 0..70 {
        for count in 0..140 {
            let text = format!("[\"{}{}\"]", "a".repeat(pad), "\\".repeat(count));
            assert_eq!(
                index(text.as_bytes()).is_ok(),
                count % 2 == 0,
                "{pad} {count}"
            );
        }
    }
}

#[test]
fn invalid_utf8_at_every_offset() {
    let valid = format!(
        "{{\"{}\":[\"{}\",1,true]}}",
        "aä日😀".repeat(20),
        "b€".repeat(150)
    );
    let valid = valid.as_bytes();
    agree(valid);
    let parts: [&[u8]; 9] = [
        b"\x80",
        b"\xC3",
        b"\xE2\x82",
        b"\xF0\x9F\x98",
        b"\xC0\xAF",
        b"\xED\xA0\x80",
        b"\xF4\x90\x80\x80",
        b"\xFE",
        b"\xFF",
    ];
    for part in parts {
        for at in 0..=valid.len() {
            let text = [&valid[..at], part, &valid[at..]].concat();
            let accepted = Table::parse(&text, JsonLimits::depth(9)).is_ok();
            assert_eq!(index(&text).is_ok(), accepted, "{at} {part:?}");
        }
    }
    // Each byte replaced, which cuts characters.
    for at in 0..valid.len() {
        for byte in [b'a', 0x80, 0xBF, 0xC3, 0xE2, 0xF0, 0xFF] {
            let mut text = valid.to_vec();
            text[at] = byte;
            let accepted = Table::parse(&text, JsonLimits::depth(9)).is_ok();
            assert_eq!(index(&text).is_ok(), accepted, "{at} {byte}");
        }
    }
}

#[test]
fn byte_order_marks() {
    for text in [
        "\u{feff}[]",
        "\u{feff}",
        "[\u{feff}]",
        "[]\u{feff}",
        "[\"\u{feff}\"]",
    ] {
        agree(text.as_bytes());
    }
    for text in [
        &b"\xFF\xFE[\0]\0"[..],
        b"\xFE\xFF\0[\0]",
        b"\xEF\xBB",
        b"\xEF\xBB[]",
    ] {
        agree(text);
    }
}

#[test]
fn the_largest_values() {
    let largest = |text: String| index(text.as_bytes()).expect("it is valid").largest();
    for count in [1, 2, 63, 64, 65, 1_000] {
        let members: Vec<_> = (0..count)
            .map(|at| format!("\"{at}\":[1,{{}},{{\"a\":2}}]"))
            .collect();
        let object = format!("{{{}}}", members.join(","));
        assert_eq!(largest(object.clone()).members, count);
        assert_eq!(
            largest(format!("[{{}},[{object}],{{\"a\":1}}]")).members,
            count
        );
        let text = largest(format!("[1,\"{}\",2]", "a".repeat(count))).token;
        assert!((count..count + 64).contains(&text), "{text}");
        let number = largest(format!("[1,{},2]", "1".repeat(count))).number;
        assert!((count..count + 128).contains(&number), "{number}");
    }
    let nested = |depth: usize| {
        format!(
            "{}{{\"a\":1,\"b\":2}}{}",
            "[".repeat(depth),
            "]".repeat(depth)
        )
    };
    assert_eq!(largest(nested(65_535)).members, 2);
    assert!(largest(nested(65_537)).members > u32::MAX as usize);
}

#[test]
fn white_space_everywhere() {
    let mut rng = Rng::new(5);
    for _ in 0..300 {
        let text: Vec<u8> = [
            &b"[ "[..],
            b"{",
            b"\"a\"",
            b":",
            b" 1 ",
            b",",
            b"\"b\"",
            b": [",
            b" ] ",
            b"}",
            b", true",
            b"]",
        ]
        .iter()
        .flat_map(|token| {
            let blanks = (0..rng.below(90)).map(|_| rng.pick(b" \n\t\r"));
            blanks.chain(token.iter().copied()).collect::<Vec<_>>()
        })
        .collect();
        agree(&text);
        let mut other = text.clone();
        let at = rng.below(other.len());
        other[at] = rng.pick(b"\x0B\x0C\x00\x1F\x7F\xA0");
        agree(&other);
    }
}

#[test]
fn another_text_is_no_panic() {
    let text = br#"{"a":[1,2,{"b":"c"}],"d":"\u0041"}"#.to_vec();
    let index = index(&text).expect("it is valid");
    for other in [
        &b""[..],
        b"{",
        b"\"",
        b"[[[[[[[[[[[[[[[[[[[[[[[",
        &[b'\\'; 100],
    ] {
        let tree = Tree::new(other, &index);
        let mut node = Some(tree.root());
        while let Some(at) = node {
            tree.range(at);
            tree.len(at);
            tree.field(at, b"a");
            node = tree.next_token(at);
        }
    }
    let mut indexer = Indexer::new(1_000, 10).expect("it is short");
    assert_eq!(indexer.step(b"[]", usize::MAX), Err(Invalid));
}
