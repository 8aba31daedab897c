//! The writer over an arena of values: its text, its gaps, its refusals.

use num_bigint::BigInt;
use ptc_json::{write, Draft, Gap, JsonView, OnHeap, Readable, Refusal, Writer};
use ptc_term::heap::Heap;
use ptc_term::number::Number;
use ptc_term::plain::{Opaque, PlainHeap, Term};
use ptc_term::stop::Stop;
use ptc_term::suspend::{freeze, thaw};

/// Terms with maps of any keys, equal ones too; those of up to two entries are read in place.
#[derive(Default)]
struct Arena {
    heap: PlainHeap,
    /// An opaque term stands for each map.
    maps: Vec<(Term, Vec<Term>, Vec<Term>)>,
}

enum Value {
    Int(i64),
    Big(BigInt),
    Text(&'static [u8]),
    Name(&'static str),
    Cons(Term, Term),
    Map(Vec<Term>, Vec<Term>),
    Foreign,
}

impl Arena {
    fn add(&mut self, value: Value) -> Term {
        let heap = &mut self.heap;
        match value {
            Value::Int(value) => heap.make_number(Number::Int(value)).unwrap(),
            Value::Big(value) => heap.make_number(Number::Big(value)).unwrap(),
            Value::Text(text) => heap.make_string(text),
            Value::Name(name) => heap.atom(name),
            Value::Cons(head, tail) => heap.cons(head, tail),
            Value::Foreign => heap.opaque(Opaque::Pid, 0),
            Value::Map(keys, values) => {
                let map = heap.opaque(Opaque::Fun, self.maps.len() as u64);
                self.maps.push((map, keys, values));
                map
            }
        }
    }

    fn list(&mut self, items: &[Term]) -> Term {
        self.heap.make_list(items)
    }

    fn map(&self, term: Term) -> Option<(&[Term], &[Term])> {
        let map = self.maps.iter().find(|(map, ..)| *map == term);
        map.map(|(_, keys, values)| (&keys[..], &values[..]))
    }

    fn on_heap(&self) -> OnHeap<'_, PlainHeap> {
        let heap = &self.heap;
        OnHeap {
            heap,
            in_slice: false,
        }
    }
}

impl Readable for Arena {
    type Term = Term;
    type Heap = PlainHeap;

    fn heap(&self) -> &PlainHeap {
        &self.heap
    }

    fn view(&self, term: Term) -> JsonView<'_, Term> {
        match self.map(term) {
            Some((keys, values)) if keys.len() < 3 => JsonView::Map(keys, values),
            Some((keys, _)) => JsonView::LargeMap(keys.len()),
            // What it borrows is the heap's.
            None => match self.heap.bytes(term) {
                Some(text) => JsonView::Text(text),
                None => match self.on_heap().view(term) {
                    JsonView::Int(value) => JsonView::Int(value),
                    JsonView::Big(value) => JsonView::Big(value),
                    JsonView::List => JsonView::List,
                    JsonView::Name => JsonView::Name,
                    _ => JsonView::Foreign,
                },
            },
        }
    }

    fn name(&self, atom: Term) -> String {
        self.on_heap().name(atom)
    }

    fn uncons(&self, term: Term) -> Option<(Term, Term)> {
        self.heap.uncons(term)
    }

    fn is_empty_list(&self, term: Term) -> bool {
        self.heap.is_empty_list(term)
    }

    fn flat(&self, map: Term) -> (&[Term], &[Term]) {
        self.map(map).unwrap()
    }

    fn entries(&self, map: Term) -> Vec<(Term, Term)> {
        let (keys, values) = self.map(map).unwrap();
        keys.iter().copied().zip(values.iter().copied()).collect()
    }

    fn identity(&self, term: Term) -> usize {
        self.on_heap().identity(term)
    }
}

fn text(arena: &Arena, root: Term) -> String {
    let mut text = Vec::new();
    assert!(
        write(arena, root, usize::MAX, &mut text, &mut |_, _| Ok(()))
            .unwrap()
            .is_empty()
    );
    String::from_utf8(text).unwrap()
}

fn refusal(arena: &Arena, root: Term, limit: usize) -> Refusal<Term> {
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
        let key = "k".repeat(length);
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
    root: Term,
    often: usize,
) -> (Vec<u8>, Vec<Gap<Term>>, usize, usize) {
    let mut draft = Draft::new(Vec::new());
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
        let mut writer = Writer::new(&*arena, &mut draft, usize::MAX, &mut consume_fuel);
        let begun = root.take().map_or(Ok(()), |root| writer.begin(root));
        match begun.and_then(|()| writer.resume()) {
            Ok(()) => break,
            Err(refusal) => assert_eq!(refusal, Refusal::Stopped(Stop::SliceOver)),
        }
        let mut terms = Vec::new();
        let frozen = freeze(draft, &mut arena.heap, &mut terms);
        draft = thaw(frozen, &arena.heap, &mut terms.into_iter()).expect("its terms");
        left += 1;
    }
    let gaps = draft.gaps(&arena.heap);
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
    let keys: Vec<Term> = (0..3_000).map(|n| arena.add(Value::Int(n))).collect();
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

/// What is open fills tuples when it is suspended, and is read from them afterwards.
#[test]
fn a_deep_text_that_is_left_goes_on() {
    let mut arena = Arena::default();
    let (one, foreign) = (arena.add(Value::Int(1)), arena.add(Value::Foreign));
    let mut root = arena.list(&[one]);
    for depth in 0..50_000 {
        root = match depth % 3 {
            0 => arena.list(&[one, root, foreign]),
            1 => arena.list(&[one, one, root]),
            _ => arena.list(&[root, one]),
        };
    }
    let mut whole = Vec::new();
    let gaps = write(&arena, root, usize::MAX, &mut whole, &mut |_, _| Ok(())).unwrap();
    let (text, same, left, _) = in_parts(&mut arena, root, 2);
    assert!(text == whole, "another text, left {left} times");
    assert_eq!(same, gaps);
    assert!(left > 10, "{left}");
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
