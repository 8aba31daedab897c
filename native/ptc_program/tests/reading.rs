//! Reading that is suspended at every step gives the same result as reading without suspension.

use crate::common::rng::Rng;
use crate::common::{generate, suspended, term, DEEP};
use ptc_json::{
    Document, Extent, JsonError, PartialValue, ReadError, Reader, Replay, Sink, Table, TermBuilder,
    Text,
};
use ptc_term::heap::Heap;
use ptc_term::plain::{PlainHeap, Term};
use ptc_term::stop::Stop;
use ptc_term::workspace::{unlimited, Workspace};

/// A sink that stops once at everything that can be stopped.
struct Stubborn<'b, S> {
    sink: &'b mut S,
    go: &'b mut bool,
}

impl<S> Stubborn<'_, S> {
    fn turn(&mut self) -> Result<(), Stop> {
        *self.go = !*self.go;
        match *self.go {
            true => Ok(()),
            false => Err(Stop::SliceOver),
        }
    }
}

impl<'t, S: Sink<'t>> Sink<'t> for Stubborn<'_, S> {
    fn null(&mut self) {
        self.sink.null()
    }
    fn boolean(&mut self, value: bool) {
        self.sink.boolean(value)
    }
    fn integer(&mut self, value: i64) {
        self.sink.integer(value)
    }
    fn big_integer(&mut self, digits: &'t str) -> Result<(), Stop> {
        self.turn()?;
        self.sink.big_integer(digits)
    }
    fn float(&mut self, value: f64) {
        self.sink.float(value)
    }
    fn string(&mut self, text: Text<'t, '_>) -> Result<(), Stop> {
        self.turn()?;
        self.sink.string(text)
    }
    fn key(&mut self, text: Text<'t, '_>) -> Result<(), Stop> {
        self.turn()?;
        self.sink.key(text)
    }
    fn open(&mut self, object: bool) {
        self.sink.open(object)
    }
    fn close(&mut self, object: bool) -> Result<(), Stop> {
        self.turn()?;
        self.sink.close(object)
    }
    fn consume_fuel(&mut self, bytes: usize, held: usize) -> Result<(), Stop> {
        self.turn()?;
        self.sink.consume_fuel(bytes, held)
    }
}

/// Reads with a stop at each step; also returns the number of stops.
fn in_steps(heap: &mut PlainHeap, text: &[u8]) -> (Result<Term, JsonError>, usize) {
    let mut reader = Reader::new(0, Extent::Whole, DEEP).looking_often();
    let (mut value, mut go, mut stops) = (PartialValue::default(), true, 0);
    loop {
        let mut meter = unlimited();
        let mut builder = TermBuilder::resume(Workspace::new(heap, &mut meter), value);
        let mut sink = Stubborn {
            sink: &mut builder,
            go: &mut go,
        };
        match reader.read(text, &mut sink) {
            Ok(end) => {
                assert_eq!(end, text.len());
                return (Ok(builder.finish()), stops);
            }
            Err(ReadError::Json(error)) => return (Err(error), stops),
            Err(ReadError::Stop(stop)) => {
                assert_eq!(stop, Stop::SliceOver);
                let partial = builder.into_partial();
                value = suspended(partial, heap);
                stops += 1;
            }
        }
    }
}

fn same(text: &[u8]) -> usize {
    let mut heap = PlainHeap::new();
    let (steps, stops) = in_steps(&mut heap, text);
    let shown = || String::from_utf8_lossy(text).into_owned();
    let whole = match std::str::from_utf8(text) {
        Ok(text) => term(&mut heap, text),
        Err(_) => match Table::parse(text, DEEP) {
            Ok(_) => panic!("{}", shown()),
            Err(error) => Err(error),
        },
    };
    match (steps, whole) {
        (Ok(a), Ok(b)) => assert!(heap.identical(a, b), "{}", shown()),
        (Err(a), Err(b)) => assert_eq!(a, b, "{}", shown()),
        (a, b) => panic!("{}: {a:?} {b:?}", shown()),
    }
    stops
}

#[test]
fn random_texts() {
    let mut rng = Rng::new(31);
    let mut stops = 0;
    for _ in 0..3_000 {
        stops += same(generate::json(&mut rng, 4).as_bytes());
    }
    assert!(stops > 10_000, "{stops}");
}

#[test]
fn random_texts_with_a_mistake() {
    let mut rng = Rng::new(32);
    for _ in 0..3_000 {
        let mut text = generate::json(&mut rng, 4).into_bytes();
        let at = rng.below(text.len());
        match rng.below(3) {
            0 => text.truncate(at),
            1 => text[at] = rng.pick(b"{}[]\",:0 \\u\x00\x80\xFFx-.e"),
            _ => text.insert(at, rng.pick(b"{}[]\",:0 \\u\x00\x80\xFFx-.e")),
        }
        same(&text);
    }
}

#[test]
fn characters_of_any_length_cut_anywhere() {
    let mut rng = Rng::new(33);
    let pieces: [&[u8]; 12] = [
        b"a",
        b"\\n",
        b"\\u00e4",
        "ä".as_bytes(),
        "日".as_bytes(),
        "😀".as_bytes(),
        b"\x80",
        b"\xF0",
        b"\xE6\x97",
        b"\xF0\x90\x80",
        b"\x80\x80\x80\x80\x80",
        b"\\ud83d\\ude00",
    ];
    for _ in 0..20_000 {
        let mut text = b"\"".to_vec();
        for _ in 0..rng.below(8) {
            // Mostly what is right.
            let most = if rng.below(4) == 0 { pieces.len() } else { 6 };
            text.extend_from_slice(pieces[rng.below(most)]);
        }
        text.push(b'"');
        same(&text);
    }
}

#[test]
fn what_is_long() {
    let long = "x".repeat(10_000);
    let digits = "7".repeat(10_000);
    let escaped = "\\u0041ä".repeat(3_000);
    let list = vec!["[1,{}]"; 5_000].join(" , ");
    let pairs: Vec<_> = (0..3_000).map(|n| format!("\"{n}\" : {n}")).collect();
    let brackets = format!("{}{}", "[".repeat(5_000), "]".repeat(5_000));
    for text in [
        format!("[\"{long}\",{digits},\"{escaped}\",-{digits}]"),
        format!("{{\"{long}\":[{list}]}}"),
        format!("[{list}]"),
        format!("{{{}}}", pairs.join(",")),
        brackets,
        format!("{}1{}", " ".repeat(10_000), "\n".repeat(10_000)),
    ] {
        assert!(same(text.as_bytes()) > 5, "{}", text.len());
    }
}

/// A value is frozen once, however often a reader is suspended.
#[test]
fn leaving_costs_what_is_new() {
    let mut heap = PlainHeap::new();
    let text = format!("[{}]", vec!["\"a\""; 5_000].join(","));
    let (value, stops) = in_steps(&mut heap, text.as_bytes());
    assert!(value.is_ok());
    assert!(
        stops > 5_000 && heap.conses() <= 5_002,
        "{stops} {}",
        heap.conses()
    );
}

#[test]
fn replays() {
    let mut rng = Rng::new(34);
    for _ in 0..1_000 {
        let text = generate::json(&mut rng, 4);
        let table = Table::parse(text.as_bytes(), DEEP).expect("JSON");
        let document = Document::new(text.as_bytes(), &table);
        let mut heap = PlainHeap::new();
        let whole = document.build(0, &mut heap);
        let mut replay = Replay::new(&document, 0);
        let (mut value, mut go) = (PartialValue::default(), true);
        let again = loop {
            let mut meter = unlimited();
            let work = Workspace::new(&mut heap, &mut meter);
            let mut builder = TermBuilder::resume(work, value);
            let mut sink = Stubborn {
                sink: &mut builder,
                go: &mut go,
            };
            match replay.run(&document, &mut sink) {
                Ok(()) => break builder.finish(),
                Err(_) => {
                    let partial = builder.into_partial();
                    value = suspended(partial, &mut heap);
                }
            }
        };
        assert!(heap.identical(whole, again), "{text}");
    }
}

/// Lists and objects around the sizes at which they are built in parts, and of which full tuples are kept.
#[test]
fn long_containers() {
    for length in [1_023, 1_024, 1_025, 2_049, 16_384, 16_385, 16_386, 40_000] {
        let numbers: Vec<String> = (0..length).map(|n| n.to_string()).collect();
        let list = format!("[{}]", numbers.join(","));
        assert!(same(list.as_bytes()) > 0);
        let pairs: Vec<String> = numbers.iter().map(|n| format!("\"{n}\":{n}")).collect();
        let nested = format!("[1,{{{}}},[[{list}],2]]", pairs.join(","));
        if length < 3_000 {
            assert!(same(nested.as_bytes()) > 0);
        }
    }
}
