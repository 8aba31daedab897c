//! What is kept of a program's source answers questions about it, whether the program was given as a text or as a term, and
//! wherever the answer is interrupted.

use crate::common::{load_options, suspended, term, STRICT};
use ptc_program::load::{Loaded, Loader};
use ptc_program::part::{CallPath, ProgramPart};
use ptc_program::source::KeptSource;
use ptc_term::heap::Heap;
use ptc_term::job::Job;
use ptc_term::meter::{Limits, Meter, Pace};
use ptc_term::number::Number;
use ptc_term::plain::{PlainHeap, Term};
use ptc_term::stop::Stop;
use ptc_vm::explain::Detail;
use std::sync::Arc;

const PROGRAM: &str = r#"{"op":"pipe","steps":[
  {"op":"load","name":"items"},
  {"op":"map","expr":{"b":{"op":"call","tool":"t","args":{"c":{"op":"call","tool":"t"}}},"a":[{"op":"call","tool":"u"}]}},
  {"op":"count"}]}"#;

fn unlimited() -> Meter {
    Meter::whole(Limits::UNLIMITED, Pace::Quantum)
}

fn loaded(mut loader: Loader<Term>, text: &str, heap: &mut PlainHeap) -> Loaded<Term> {
    let done = loader.step(text.as_bytes(), heap, &mut unlimited());
    assert!(matches!(done, Ok(Ok(()))), "{done:?}");
    loader.finish(heap).expect("it is loaded")
}

fn of_text(text: &str, heap: &mut PlainHeap) -> Loaded<Term> {
    let loader = Loader::of_text(text.len(), load_options(STRICT)).keeping();
    loaded(loader, text, heap)
}

fn of_term(program: Term, heap: &mut PlainHeap) -> Loaded<Term> {
    let loader = Loader::of_term(program, load_options(STRICT)).keeping();
    loaded(loader, "", heap)
}

fn source(loaded: &Loaded<Term>) -> Arc<KeptSource> {
    loaded.source.clone().expect("it is kept")
}

fn call_path(loaded: &Loaded<Term>, number: usize, text: &str, heap: &mut PlainHeap) -> String {
    let mut path = CallPath::new(source(loaded), Some(number));
    let constant = |at: usize| loaded.consts.get(at).copied();
    loop {
        // Each execution passes a part of the program.
        let mut meter = Meter::with_fuel(Limits::UNLIMITED, 1);
        match path.step(text.as_bytes(), constant, heap, &mut meter) {
            Ok(path) => return heap.show(path),
            Err(Stop::SliceOver) => {}
            Err(stop) => panic!("{stop:?}"),
        }
    }
}

fn part(source: Arc<KeptSource>, path: &str, text: &str, heap: &mut PlainHeap) -> Option<String> {
    let path = term(heap, path).expect("JSON");
    let mut part = ProgramPart::new(source, path);
    loop {
        let mut meter = Meter::with_fuel(Limits::UNLIMITED, 1);
        match part.step(text.as_bytes(), heap, &mut meter) {
            Ok(part) => return part.map(|part| heap.show(part)),
            Err(Stop::SliceOver) => part = suspended(part, heap),
            Err(stop) => panic!("{stop:?}"),
        }
    }
}

#[test]
fn each_call_has_its_path_in_the_order_of_the_code() {
    let wanted = [
        r#"["steps", 1, "expr", "a", 0]"#,
        r#"["steps", 1, "expr", "b", "args", "c"]"#,
        r#"["steps", 1, "expr", "b"]"#,
        "nil",
    ];
    let text = format!(r#"{{"program":{PROGRAM}}}"#);
    let mut heap = PlainHeap::new();
    let program = term(&mut heap, PROGRAM).expect("JSON");
    for (loaded, text) in [
        (of_text(&text, &mut heap), text.as_str()),
        (of_term(program, &mut heap), ""),
    ] {
        for (number, wanted) in wanted.into_iter().enumerate() {
            assert_eq!(call_path(&loaded, number, text, &mut heap), wanted);
        }
    }
    let none = CallPath::new(source(&of_text(&text, &mut heap)), None).step(
        text.as_bytes(),
        |_| None,
        &mut heap,
        &mut unlimited(),
    );
    assert_eq!(none.map(|path| heap.show(path)), Ok("nil".to_string()));
}

#[test]
fn a_path_has_keys_of_any_kind() {
    let mut heap = PlainHeap::new();
    let call = term(&mut heap, r#"{"op":"call","tool":"t"}"#).expect("JSON");
    let long = heap.make_string(&[b'k'; 1_000]);
    let one = heap.make_number(Number::Int(1)).expect("small");
    let atom = heap.atom("key");
    for key in [long, one, atom] {
        let fields = heap.make_map(&[key], &[call]);
        let (op, object, name) = (
            heap.make_string(b"op"),
            heap.make_string(b"object"),
            heap.make_string(b"fields"),
        );
        let program = heap.make_map(&[op, name], &[object, fields]);
        let mut loader = Loader::of_term(program, load_options(STRICT)).keeping();
        // A key that is no text may be an error of the program.
        let Ok(Ok(())) = loader.step(b"", &mut heap, &mut unlimited()) else {
            assert_ne!(key, long);
            continue;
        };
        let loaded = loader.finish(&heap).expect("it is loaded");
        let wanted = format!(r#"["fields", {}]"#, heap.show(key));
        assert_eq!(call_path(&loaded, 0, "", &mut heap), wanted);
    }
}

#[test]
fn each_part_is_a_term() {
    let text = format!(r#"{{"program":{PROGRAM}}}"#);
    let mut heap = PlainHeap::new();
    let source = source(&of_text(&text, &mut heap));
    let whole = term(&mut heap, PROGRAM).expect("JSON");
    for (path, wanted) in [
        ("[]", Some(heap.show(whole))),
        (r#"["op"]"#, Some(r#""pipe""#.to_string())),
        (
            r#"["steps",0]"#,
            Some(r#"%{"name" => "items", "op" => "load"}"#.to_string()),
        ),
        (r#"["steps",2,"op"]"#, Some(r#""count""#.to_string())),
        (r#"["steps",3]"#, None),
        (r#"["steps",-1]"#, None),
        (r#"["steps","op"]"#, None),
        (r#"["op","x"]"#, None),
        (r#"[0]"#, None),
        (r#"[null]"#, None),
    ] {
        let found = part(source.clone(), path, &text, &mut heap);
        assert_eq!(found, wanted, "{path}");
    }
}

#[test]
fn a_text_is_compiled_again_for_observation() {
    let text = format!(r#"{{"program":{PROGRAM}}}"#);
    let mut heap = PlainHeap::new();
    let plain = of_text(&text, &mut heap);
    for detail in [None, Some(Detail::Findings), Some(Detail::All)] {
        let mut options = load_options(STRICT);
        options.observed = detail;
        let new = loaded(
            Loader::of_text(text.len(), options).keeping(),
            &text,
            &mut heap,
        );
        let again = loaded(Loader::of_source(source(&plain), detail), &text, &mut heap);
        assert_eq!(again.program.code, new.program.code);
        assert_eq!(again.program.sites, new.program.sites);
        assert_eq!(heap.show_all(&again.consts), heap.show_all(&new.consts));
        // What was kept is shared.
        assert!(Arc::ptr_eq(&source(&again), &source(&plain)));
    }
}

#[test]
fn a_source_takes_sixteen_bytes_a_part() {
    let mut heap = PlainHeap::new();
    let steps = vec![r#"{"op":"count"}"#; 1_000].join(",");
    let text = format!(r#"{{"program":{{"op":"pipe","steps":[{steps}]}}}}"#);
    // An object, its key, the program with two keys and two values, and of each step the object, a key and a value.
    let parts = 1 + 1 + 5 + 3 * 1_000;
    let bytes = source(&of_text(&text, &mut heap)).bytes();
    assert!((16 * parts..16 * (parts + 40)).contains(&bytes), "{bytes}");
}
