//! What the tests and the fuzz target share: the comparison with the reader, and random documents.

#![allow(dead_code)]

#[path = "../../../ptc_program/tests/common/rng.rs"]
mod rng;

use ptc_index::classes::scalar::Scalar;
use ptc_index::{Hint, Index, Indexer, Invalid, Kind, Members, Node, Tree};
use ptc_json::{Document, Entry, JsonLimits, Table};
pub use rng::Rng;

/// More than any test has.
const DEEP: usize = usize::MAX;

/// Indexes a text at once.
pub fn index(text: &[u8]) -> Result<Index, Invalid> {
    index_within(text, DEEP)
}

pub fn index_within(text: &[u8], depth: usize) -> Result<Index, Invalid> {
    let mut indexer = Indexer::new(text.len(), depth).expect("it is short");
    indexer
        .step(text, usize::MAX)
        .map(|index| index.expect("it is read to its end"))
}

/// Indexes a text and reads all keys of it, to measure the cost.
pub fn cost(text: &[u8]) {
    let Ok(index) = index(text) else { return };
    let tree = Tree::new(text, &index);
    let mut next = Some(tree.root());
    while let Some(node) = next {
        tree.kind(node);
        next = tree.next_token(node);
    }
    tree.len(tree.root());
}

/// Fails unless the index accepts what the reader accepts, in quanta of any length and without vectors, and the tree is
/// the reader's.
pub fn agree(text: &[u8]) {
    let limits = JsonLimits::depth(DEEP);
    let index = index(text);
    assert_eq!(in_quanta(text), index, "{}", shown(text));
    assert_eq!(scalar(text), index, "{}", shown(text));
    match (Table::parse(text, limits), index) {
        (Ok(table), Ok(index)) => {
            let document = Document::new(text, &table);
            assert!(index.bytes() <= text.len() / 4 + 300, "{}", index.bytes());
            same(text, &document, Tree::new(text, &index));
            largest(&document, &index);
        }
        (Err(_), Err(Invalid)) => {}
        (Ok(_), Err(Invalid)) => panic!("only the reader accepts {}", shown(text)),
        (Err(error), Ok(_)) => panic!("only the index accepts {}: {error}", shown(text)),
    }
}

/// Stops as often as possible, and copies the state as if the work went on elsewhere.
fn in_quanta(text: &[u8]) -> Result<Index, Invalid> {
    let mut indexer = Indexer::new(text.len(), DEEP).expect("it is short");
    loop {
        let mut moved = indexer.clone();
        if let Some(index) = moved.step(text, 1)? {
            return Ok(index);
        }
        indexer = moved;
    }
}

fn scalar(text: &[u8]) -> Result<Index, Invalid> {
    let mut indexer = Indexer::new(text.len(), DEEP).expect("it is short");
    let index = indexer.step_with::<Scalar>(text, usize::MAX)?;
    Ok(index.expect("it is read to its end"))
}

/// Fails unless no value is larger than the index says.
fn largest(document: &Document, index: &Index) {
    let largest = index.largest();
    let mut members = 1;
    for at in 0..document.end(0) {
        match document.entry(at) {
            Entry::Object(_, count) => members = members.max(count as usize),
            Entry::Str(start, end) => assert!((end - start) as usize <= largest.token),
            Entry::BigInt(start, end) => assert!((end - start) as usize <= largest.number),
            _ => {}
        }
    }
    assert!(largest.number <= largest.token.max(128));
    assert!(largest.members == members || largest.members > u32::MAX as usize);
}

/// Fails unless the tree has the entries of the document, in the same order.
fn same(text: &[u8], document: &Document, tree: Tree) {
    let mut members = Members::default();
    let mut hints = [Hint::default(); 4];
    // The values and keys that are still to be read, the next one last.
    let mut rest = vec![(tree.root(), false)];
    for at in 0..document.end(0) {
        let (node, is_key) = rest.pop().expect("the tree has fewer values");
        if is_key {
            rest.extend(tree.next_sibling(tree.value(node)).map(|next| (next, true)));
            rest.push((tree.value(node), false));
            string(document, at, tree, node);
            continue;
        }
        // A key's value is no sibling of its own: the next member follows the key above.
        let follows = |node| tree.next_sibling(node);
        match document.entry(at) {
            Entry::Null => assert_eq!(tree.kind(node), Kind::Null),
            Entry::Bool(value) => assert_eq!(tree.kind(node), Kind::Bool(value)),
            Entry::Int(value) => {
                assert_eq!(tree.kind(node), Kind::Int);
                let raw = std::str::from_utf8(tree.raw(node)).expect("digits");
                assert_eq!(raw.parse(), Ok(value), "{}", shown(text));
            }
            Entry::BigInt(start, end) => {
                assert_eq!(tree.kind(node), Kind::Int);
                assert_eq!(tree.range(node), start as usize..end as usize);
            }
            Entry::Float(value) => {
                assert_eq!(tree.kind(node), Kind::Float);
                let raw = std::str::from_utf8(tree.raw(node)).expect("digits");
                assert_eq!(raw.parse(), Ok(value), "{}", shown(text));
            }
            Entry::List(_, count) => {
                assert_eq!(tree.kind(node), Kind::List);
                assert_eq!(tree.len(node), count as usize);
                let mut elements = Vec::new();
                let mut element = tree.first_child(node);
                while let Some(node) = element {
                    elements.push((node, false));
                    element = follows(node);
                }
                assert_eq!(elements.len(), count as usize);
                rest.extend(elements.into_iter().rev());
                assert_eq!(tree.byte_after(node), Some(b']'));
            }
            Entry::Object(_, count) => {
                assert_eq!(tree.kind(node), Kind::Object);
                assert_eq!(tree.len(node), count as usize);
                rest.extend(tree.first_child(node).map(|key| (key, true)));
                fields(document, at, tree, node, &mut members, &mut hints);
                assert_eq!(tree.byte_after(node), Some(b'}'));
            }
            _ => {
                assert_eq!(tree.kind(node), Kind::String);
                string(document, at, tree, node);
            }
        }
    }
    assert!(rest.is_empty(), "the tree has more values: {}", shown(text));
}

trait ByteAfter {
    fn byte_after(&self, node: Node) -> Option<u8>;
}

impl ByteAfter for Tree<'_> {
    /// The last byte of a container.
    fn byte_after(&self, node: Node) -> Option<u8> {
        self.raw(node).last().copied()
    }
}

fn string(document: &Document, at: u32, tree: Tree, node: Node) {
    let entry = document.entry(at);
    let bytes = document.bytes(entry).expect("a string");
    let content = tree.content(node);
    assert_eq!(content.escaped, matches!(entry, Entry::Unescaped(..)));
    for most in [1, 7, usize::MAX] {
        let mut decoded = Vec::new();
        let mut from = content.range.start;
        while from < content.range.end {
            from = tree.decode(from, content.range.end, most, &mut decoded);
        }
        assert_eq!(from, content.range.end);
        assert_eq!(decoded, bytes);
    }
    assert_eq!(tree.plain(node), (!content.escaped).then_some(bytes));
}

/// Looks up keys that the object has, and some that it may not have.
fn fields(
    document: &Document,
    at: u32,
    tree: Tree,
    node: Node,
    members: &mut Members,
    hints: &mut [Hint; 4],
) {
    let pairs: Vec<_> = document.pairs(at).take(200).collect();
    let first = |name: &[u8]| {
        let is = |(key, _): &(u32, u32)| document.bytes(document.entry(*key)) == Some(name);
        pairs.iter().position(is)
    };
    let values: Vec<_> = {
        let mut values = Vec::new();
        let mut member = tree.first_child(node);
        while let Some(key) = member.filter(|_| values.len() < 200) {
            values.push(tree.value(key));
            member = tree.next_sibling(tree.value(key));
        }
        values
    };
    if document.size(at) > pairs.len() {
        return;
    }
    for (key, _) in pairs.iter().take(20) {
        let name = document.bytes(document.entry(*key)).expect("a key");
        let expected = first(name).map(|place| values[place]);
        assert_eq!(tree.field(node, name), expected);
        assert_eq!(
            members.field(tree, node, name, &mut Hint::default()),
            expected
        );
    }
    let names: [&[u8]; 4] = [b"a", b"b", b"", b"a\"b"];
    for (name, hint) in names.into_iter().zip(hints) {
        let expected = first(name).map(|place| values[place]);
        assert_eq!(tree.field(node, name), expected);
        assert_eq!(members.field(tree, node, name, hint), expected);
        assert_eq!(members.next_sibling(tree, node), tree.next_sibling(node));
    }
}

fn shown(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    match text.char_indices().nth(600) {
        Some((end, _)) => format!("{:?}… ({} bytes)", &text[..end], text.len()),
        None => format!("{text:?}"),
    }
}

/// A random document of about this many values.
pub fn document(rng: &mut Rng, size: usize) -> Vec<u8> {
    let mut text = Vec::new();
    let blanks = rng.pick(&[0, 0, 1, 12]);
    let mut left = size;
    // What closes the open containers, and how many values they have.
    let mut open: Vec<(u8, usize)> = Vec::new();
    loop {
        if let Some((close, count)) = open.last_mut() {
            if left == 0 || rng.once_in(6) {
                text.push(*close);
                open.pop();
                blank(rng, blanks, &mut text);
                if open.is_empty() {
                    return text;
                }
                continue;
            }
            if *count > 0 {
                text.push(b',');
                blank(rng, blanks, &mut text);
            }
            *count += 1;
            if *close == b'}' {
                string_text(rng, &mut text, true);
                blank(rng, blanks, &mut text);
                text.push(b':');
                blank(rng, blanks, &mut text);
            }
        } else {
            blank(rng, blanks, &mut text);
        }
        left = left.saturating_sub(1);
        match rng.below(if open.is_empty() { 3 } else { 10 }) {
            0 | 1 => {
                text.push(b'[');
                open.push((b']', 0));
            }
            2 | 3 => {
                text.push(b'{');
                open.push((b'}', 0));
            }
            4 | 5 => string_text(rng, &mut text, false),
            6 | 7 => number_text(rng, &mut text),
            _ => text.extend_from_slice(rng.pick(&[&b"true"[..], b"false", b"null"])),
        }
        blank(rng, blanks, &mut text);
    }
}

fn blank(rng: &mut Rng, most: usize, text: &mut Vec<u8>) {
    if most > 0 {
        let most = if rng.once_in(30) { 100 } else { most };
        for _ in 0..rng.below(most + 1) {
            text.push(rng.pick(b"   \n\t\r"));
        }
    }
}

fn string_text(rng: &mut Rng, text: &mut Vec<u8>, key: bool) {
    const PARTS: [&str; 20] = [
        "a",
        "b",
        "abc",
        "id",
        " ",
        "{",
        "}",
        "[",
        ",",
        ":",
        "ä",
        "日本",
        "😀",
        r"\u0061",
        r#"\""#,
        r"\\",
        r"\n",
        r"\ud83d\ude00",
        r"\u00e4",
        "1",
    ];
    text.push(b'"');
    let most = match (key, rng.below(40)) {
        (true, _) => 3,
        (_, 0) => 300,
        (_, 1..5) => 40,
        _ => 6,
    };
    let plain = rng.once_in(2);
    for _ in 0..rng.below(most) {
        let part = match plain {
            true => rng.below(4),
            false => rng.below(PARTS.len()),
        };
        text.extend_from_slice(PARTS[part].as_bytes());
    }
    text.push(b'"');
}

fn number_text(rng: &mut Rng, text: &mut Vec<u8>) {
    let digits = |rng: &mut Rng, text: &mut Vec<u8>, zero: bool| {
        let most = match rng.below(60) {
            0 => 400,
            1..4 => 70,
            _ => 4,
        };
        if !zero {
            text.push(b'1' + rng.below(9) as u8);
        }
        for _ in 0..usize::from(zero) + rng.below(most) {
            text.push(b'0' + rng.below(10) as u8);
        }
    };
    if rng.once_in(4) {
        text.push(b'-');
    }
    match rng.once_in(5) {
        true => text.push(b'0'),
        false => digits(rng, text, false),
    }
    if rng.once_in(3) {
        text.push(b'.');
        digits(rng, text, true);
    }
    if rng.once_in(5) {
        text.push(rng.pick(b"eE"));
        text.extend_from_slice(rng.pick(&[&b""[..], b"+", b"-"]));
        match rng.below(3) {
            0 => digits(rng, text, true),
            1 => text.extend_from_slice(format!("{:03}", rng.below(330)).as_bytes()),
            _ => text.push(b'0' + rng.below(10) as u8),
        }
    }
}
