//! The writer over an arena of values: its text, its gaps, its refusals.

use num_bigint::BigInt;
use ptc_json::{write, Draft, Gap, JsonView, Readable, Refusal, Writer};
use ptc_term::stop::Stop;

/// Terms as an arena of values; a handle is an index.
#[derive(Default)]
struct Arena(Vec<Value>);

enum Value {
    Int(i64),
    Big(BigInt),
    Text(&'static [u8]),
    Name(&'static str),
    Empty,
    Cons(usize, usize),
    Map(Vec<usize>, Vec<usize>),
    Foreign,
}

impl Arena {
    fn add(&mut self, value: Value) -> usize {
        self.0.push(value);
        self.0.len() - 1
    }

    fn list(&mut self, items: &[usize]) -> usize {
        let empty = self.add(Value::Empty);
        let cons = |rest, item: &usize| self.add(Value::Cons(*item, rest));
        items.iter().rev().fold(empty, cons)
    }
}

impl Readable for Arena {
    type Term = usize;

    fn view(&self, term: usize) -> JsonView<'_, usize> {
        match &self.0[term] {
            Value::Int(value) => JsonView::Int(*value),
            Value::Big(value) => JsonView::Big(value.clone()),
            Value::Text(text) => JsonView::Text(text),
            Value::Name(_) => JsonView::Name,
            Value::Empty | Value::Cons(..) => JsonView::List,
            Value::Map(keys, values) if keys.len() < 3 => JsonView::Map(keys, values),
            Value::Map(keys, _) => JsonView::LargeMap(keys.len()),
            Value::Foreign => JsonView::Foreign,
        }
    }

    fn name(&self, atom: usize) -> String {
        match self.0[atom] {
            Value::Name(name) => name.to_string(),
            _ => String::new(),
        }
    }

    fn uncons(&self, term: usize) -> Option<(usize, usize)> {
        match &self.0[term] {
            Value::Cons(head, tail) => Some((*head, *tail)),
            _ => None,
        }
    }

    fn is_empty_list(&self, term: usize) -> bool {
        matches!(self.0[term], Value::Empty)
    }

    fn entries(&self, map: usize) -> Vec<(usize, usize)> {
        match &self.0[map] {
            Value::Map(keys, values) => keys.iter().copied().zip(values.iter().copied()).collect(),
            _ => Vec::new(),
        }
    }

    fn identity(&self, term: usize) -> usize {
        term + 1
    }
}

fn text(arena: &Arena, root: usize) -> String {
    let mut text = Vec::new();
    assert!(
        write(arena, root, usize::MAX, &mut text, &mut |_, _| Ok(()))
            .unwrap()
            .is_empty()
    );
    String::from_utf8(text).unwrap()
}

fn refusal(arena: &Arena, root: usize, limit: usize) -> Refusal<usize> {
    write(arena, root, limit, &mut Vec::new(), &mut |_, _| Ok(())).unwrap_err()
}

#[test]
fn containers_and_repeated_keys() {
    let mut arena = Arena::default();
    let (a, b) = (arena.add(Value::Text(b"a")), arena.add(Value::Name("b")));
    let one = arena.add(Value::Int(1));
    let small = arena.add(Value::Map(vec![a, b], vec![one, one]));
    let large = arena.add(Value::Map(vec![a, b, one], vec![small, small, one]));
    let (empty, none) = (arena.list(&[]), arena.add(Value::Map(vec![], vec![])));
    let list = arena.list(&[large, empty, large, none, b]);
    let large = r#"{"a":{"a":1,"b":1},"b":{"a":1,"b":1},"1":1}"#;
    assert_eq!(
        text(&arena, list),
        format!(r#"[{large},[],{large},{{}},"b"]"#)
    );
    assert_eq!(text(&arena, b), r#""b""#);
}

#[test]
fn keys_of_every_length_come_again() {
    let mut arena = Arena::default();
    let one = arena.add(Value::Int(1));
    for length in 1..60 {
        let key = arena.add(Value::Text(&[b'k'; 60][..length]));
        let map = arena.add(Value::Map(vec![key, key], vec![one, one]));
        let Value::Text(key) = arena.0[key] else {
            unreachable!()
        };
        let key = std::str::from_utf8(key).unwrap();
        assert_eq!(text(&arena, map), format!(r#"{{"{key}":1,"{key}":1}}"#));
    }
}

#[test]
fn foreign_terms_leave_gaps() {
    let mut arena = Arena::default();
    let (foreign, one) = (arena.add(Value::Foreign), arena.add(Value::Int(1)));
    let list = arena.list(&[foreign, one, foreign]);
    let mut text = b"left over".to_vec();
    let gaps = write(&arena, list, usize::MAX, &mut text, &mut |_, _| Ok(())).unwrap();
    assert_eq!(text, b"[,1,]");
    assert_eq!(gaps, [(1, foreign), (4, foreign)]);
}

#[test]
fn refusals_carry_the_term() {
    let mut arena = Arena::default();
    let (one, bad) = (arena.add(Value::Int(1)), arena.add(Value::Text(b"ab\xFF")));
    let improper = arena.add(Value::Cons(one, one));
    let by_list = arena.add(Value::Map(vec![improper], vec![one]));
    for (term, expected) in [
        (bad, Refusal::NotUtf8(bad, 2)),
        (improper, Refusal::Foreign(improper)),
        (by_list, Refusal::Foreign(improper)),
    ] {
        let list = arena.list(&[one, term]);
        assert_eq!(refusal(&arena, list, usize::MAX), expected);
    }
}

#[test]
fn the_limit_counts_work_too() {
    let mut arena = Arena::default();
    let one = arena.add(Value::Int(1));
    let list = arena.list(&[one; 10]);
    assert!(write(&arena, list, 21, &mut Vec::new(), &mut |_, _| Ok(())).is_ok());
    assert_eq!(refusal(&arena, list, 19), Refusal::Exhausted);
    let big = arena.add(Value::Big(BigInt::from(2).pow(64_000)));
    assert_eq!(refusal(&arena, big, 249_999), Refusal::Exhausted);
    assert_eq!(text(&arena, big).len(), 19_266);
}

#[test]
fn depth_needs_no_native_stack() {
    let mut arena = Arena::default();
    let mut deep = arena.list(&[]);
    for _ in 0..200_000 {
        deep = arena.list(&[deep]);
    }
    assert_eq!(text(&arena, deep).len(), 400_002);
}

/// Terms with shared parts are small, but their text is long.
#[test]
fn what_explodes_ends_at_the_limit_or_when_nobody_waits() {
    let mut arena = Arena::default();
    let mut term = arena.add(Value::Int(1));
    for _ in 0..200 {
        term = arena.list(&[term, term]);
    }
    assert_eq!(refusal(&arena, term, 1_000_000), Refusal::Exhausted);
    let (mut bytes, mut asked) = (0, 0);
    let written = write(
        &arena,
        term,
        usize::MAX,
        &mut Vec::new(),
        &mut |more, held| {
            (bytes, asked) = (bytes + more, asked + 1);
            assert!(held <= 4 * bytes + 100_000, "{held} {bytes}");
            match asked {
                ..100 => Ok(()),
                _ => Err(Stop::DeadlinePassed),
            }
        },
    );
    assert_eq!(written, Err(Refusal::Stopped(Stop::DeadlinePassed)));
    assert!((1_000_000..10_000_000).contains(&bytes), "{bytes}");
}

/// The limits are checked before work that cannot be interrupted.
#[test]
fn long_integers_are_asked_for() {
    let mut arena = Arena::default();
    let big = arena.add(Value::Big(BigInt::from(2).pow(64_000)));
    let mut out = Vec::new();
    let written = write(&arena, big, usize::MAX, &mut out, &mut |more, _| {
        assert!(more >= 200_000, "{more}");
        Err(Stop::Abandoned)
    });
    assert_eq!(written, Err(Refusal::Stopped(Stop::Abandoned)));
    assert!(out.is_empty());
}

/// Writes to the end, suspending at every `often`th check; returns the number of suspensions, and the
/// maximum number of bytes written between two checks.
fn in_parts(
    arena: &mut Arena,
    root: usize,
    often: usize,
) -> (Vec<u8>, Vec<Gap<usize>>, usize, usize) {
    let (mut draft, mut lists) = (Draft::new(Vec::new()), [arena.list(&[]), arena.list(&[])]);
    let (mut left, mut asked, mut most) = (0, 0, 0);
    let mut root = Some(root);
    loop {
        let mut consume_fuel = |more: usize, _| {
            (asked, most) = (asked + 1, most.max(more));
            match asked % often {
                0 => Err(Stop::SliceOver),
                _ => Ok(()),
            }
        };
        let mut writer = Writer::new(
            &*arena,
            &mut draft,
            Some(lists[0]),
            usize::MAX,
            &mut consume_fuel,
        );
        let begun = root.take().map_or(Ok(()), |root| writer.begin(root));
        let written = begun.and_then(|()| writer.resume());
        let below = writer.frozen().unwrap();
        let new = writer.freeze();
        lists[0] = new
            .0
            .into_iter()
            .fold(below, |list, term| arena.add(Value::Cons(term, list)));
        lists[1] = new
            .1
            .into_iter()
            .fold(lists[1], |list, term| arena.add(Value::Cons(term, list)));
        match written {
            Ok(()) => break,
            Err(refusal) => assert_eq!(refusal, Refusal::Stopped(Stop::SliceOver)),
        }
        left += 1;
    }
    let mut foreign = Vec::new();
    while let Some((term, rest)) = arena.uncons(lists[1]) {
        foreign.insert(0, term);
        lists[1] = rest;
    }
    let gaps = draft.gaps.into_iter().zip(foreign).collect();
    (draft.text, gaps, left, most)
}

/// A suspended writer resumes to the same text and the same gaps.
#[test]
fn a_writer_that_is_left_goes_on() {
    let mut arena = Arena::default();
    let long: &'static [u8] = "aä\"€𝄞\n".repeat(20_000).into_bytes().leak();
    let (text, key) = (arena.add(Value::Text(long)), arena.add(Value::Text(long)));
    let big = arena.add(Value::Big(BigInt::from(3).pow(40_000)));
    let (foreign, one) = (arena.add(Value::Foreign), arena.add(Value::Int(1)));
    let numbers = arena.list(&vec![one; 30_000]);
    let keys: Vec<usize> = (0..3_000).map(|n| arena.add(Value::Int(n))).collect();
    let few = arena.list(&[one; 30]);
    let large = arena.add(Value::Map(keys, vec![few; 3_000]));
    let small = arena.add(Value::Map(
        vec![key, one, big],
        vec![numbers, foreign, text],
    ));
    let list = arena.list(&[small, text, foreign, small, big]);
    let few = arena.add(Value::Map(vec![one, key, text], vec![list, list, large]));
    let root = arena.list(&[few, one, foreign]);
    let mut whole = Vec::new();
    let gaps = write(&arena, root, usize::MAX, &mut whole, &mut |_, _| Ok(())).unwrap();
    for often in [1, 2, 3, 10] {
        // The first question after each return must not be refused again.
        let (text, same, left, most) = in_parts(&mut arena, root, often + 1);
        assert!(text == whole, "another text, left {left} times");
        assert_eq!(same, gaps);
        assert!(left > 10, "{left}");
        assert!(most < 5_000_000, "{most}");
    }
}

/// A string that is written in parts is refused at its first invalid byte.
#[test]
fn a_long_string_is_refused_at_the_right_byte() {
    for at in (16_370..16_400).chain(32_760..32_776) {
        for (bad, offset) in [
            (&b"\xFF"[..], 0),
            (b"\xE2\x82\xAC\xAC", 3),
            (b"\xF0\x9D\x84", 0),
            (b"\xAC\xAC\xAC\xAC\xAC", 0),
        ] {
            let mut text = vec![b'x'; at];
            text.extend_from_slice(bad);
            text.extend_from_slice(&[b'y'; 20_000]);
            let mut arena = Arena::default();
            let term = arena.add(Value::Text(text.leak()));
            assert_eq!(
                refusal(&arena, term, usize::MAX),
                Refusal::NotUtf8(term, at + offset)
            );
        }
    }
}
