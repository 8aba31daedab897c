//! Programs that are given as terms: what is looked into, what is taken as it is, and what it costs.

use crate::common::{load_options, term, End, Lab, EDITION_1, FREE, LONG, STRICT, UNCHECKED};
use ptc_program::compile::Options;
use ptc_program::fault::Code;
use ptc_program::load::Loader;
use ptc_term::heap::Heap;
use ptc_term::job::Job;
use ptc_term::meter::{Limits, Meter, Pace};
use ptc_term::number::Number;
use ptc_term::plain::{Opaque, PlainHeap, Term};

/// A map with string keys.
fn map(heap: &mut PlainHeap, fields: &[(&str, Term)]) -> Term {
    let keys: Vec<Term> = fields
        .iter()
        .map(|(key, _)| heap.make_string(key.as_bytes()))
        .collect();
    let values: Vec<Term> = fields.iter().map(|(_, value)| *value).collect();
    heap.make_map(&keys, &values)
}

fn op(heap: &mut PlainHeap, name: &str, fields: &[(&str, Term)]) -> Term {
    let name = heap.make_string(name.as_bytes());
    map(heap, &[&[("op", name)], fields].concat())
}

fn run_as(options: Options, build: impl FnOnce(&mut PlainHeap) -> Term) -> End {
    let mut heap = PlainHeap::new();
    let program = build(&mut heap);
    match Lab::of_term(heap, program, options) {
        Ok(mut lab) => lab.in_one_go(),
        Err(end) => end,
    }
}

fn value(build: impl FnOnce(&mut PlainHeap) -> Term) -> String {
    match run_as(STRICT, build) {
        End::Value(value) => value,
        end => panic!("{end:?}"),
    }
}

/// The code, the field and the terms of a program that is refused.
fn refused(build: impl FnOnce(&mut PlainHeap) -> Term) -> (Code, String, Vec<String>) {
    match run_as(STRICT, build) {
        End::Rejected(mistake) => {
            let field = mistake.field.unwrap_or_default();
            (mistake.code, field.into(), mistake.terms)
        }
        end => panic!("{end:?}"),
    }
}

#[test]
fn terms_without_a_json_form_are_constants() {
    let pair = value(|heap| {
        let (pid, ok) = (heap.opaque(Opaque::Pid, 1), heap.atom("ok"));
        let one = heap.make_number(Number::Int(1)).unwrap();
        let improper = heap.make_list_onto(&[ok], one);
        let tuple = heap.tuple(&[pid, improper, ok]);
        op(heap, "literal", &[("value", tuple)])
    });
    assert!(pair.ends_with("[:ok | 1], :ok}"), "{pair}");
    let object = value(|heap| {
        let (ok, raw) = (heap.atom("ok"), heap.make_string(&[0xff]));
        heap.make_map(&[raw, ok], &[ok, raw])
    });
    assert_eq!(object, "%{:ok => <<255>>, <<255>> => :ok}");
}

#[test]
fn a_struct_is_no_operation() {
    let a_struct = |heap: &mut PlainHeap, module: Term| {
        let (key, op, load) = (
            heap.atom("__struct__"),
            heap.make_string(b"op"),
            heap.make_string(b"load"),
        );
        heap.make_map(&[key, op], &[module, load])
    };
    for module in ["Elixir.Row", "nil"] {
        let (code, _, _) = refused(|heap| {
            let module = heap.atom(module);
            a_struct(heap, module)
        });
        assert_eq!(code, Code::NodeNotAMap);
        let (code, field, _) = refused(|heap| {
            let module = heap.atom(module);
            let fields = a_struct(heap, module);
            op(heap, "object", &[("fields", fields)])
        });
        assert_eq!((code, field.as_str()), (Code::FieldNotMap, "fields"));
    }
    // The value of a comparison is a constant then; `__meta__` alone makes no struct.
    let hidden = value(|heap| {
        let (meta, nil) = (heap.atom("__meta__"), heap.nil());
        heap.make_map(&[meta], &[nil])
    });
    assert_eq!(hidden, "%{:__meta__ => nil}");
}

#[test]
fn a_list_of_operations_is_proper() {
    let steps = |heap: &mut PlainHeap, proper: bool| {
        let one = term(heap, r#"{"op":"literal","value":1}"#).unwrap();
        let end = if proper { heap.make_list(&[]) } else { one };
        let steps = heap.make_list_onto(&[one, one], end);
        op(heap, "pipe", &[("steps", steps)])
    };
    assert_eq!(value(|heap| steps(heap, true)), "1");
    let (code, field, _) = refused(|heap| steps(heap, false));
    assert_eq!((code, field.as_str()), (Code::FieldNotList, "steps"));
    let end = run_as(UNCHECKED, |heap| steps(heap, false));
    assert!(
        matches!(&end, End::Fault(mistake) if mistake.code == Code::UncheckedNotList),
        "{end:?}"
    );
}

#[test]
fn a_count_can_be_any_integer() {
    let first = |digits: &str| {
        let digits = digits.to_string();
        run_as(STRICT, move |heap| {
            let count = heap.make_number(Number::from_digits(digits.as_bytes()));
            let take = op(heap, "take", &[("count", count.unwrap())]);
            let list = term(heap, r#"{"op":"literal","value":[1,2]}"#).unwrap();
            let steps = heap.make_list(&[list, take]);
            op(heap, "pipe", &[("steps", steps)])
        })
    };
    assert_eq!(first(&"9".repeat(700)), End::Value("[1, 2]".into()));
    let negative = first(&format!("-{}", "9".repeat(700)));
    assert!(
        matches!(&negative, End::Rejected(mistake) if mistake.code == Code::FieldNegative),
        "{negative:?}"
    );
}

#[test]
fn names_can_be_long() {
    let name = "n".repeat(1_000);
    let bound = value(|heap| {
        let name = heap.make_string(name.as_bytes());
        let three = term(heap, r#"{"op":"literal","value":3}"#).unwrap();
        let var = op(heap, "var", &[("name", name)]);
        op(
            heap,
            "let",
            &[("name", name), ("value", three), ("in", var)],
        )
    });
    assert_eq!(bound, "3");
}

#[test]
fn fields_are_evaluated_in_the_order_of_their_keys() {
    let mut heap = PlainHeap::new();
    let call = |heap: &mut PlainHeap, tool: &str| {
        let tool = heap.make_string(tool.as_bytes());
        op(heap, "call", &[("tool", tool)])
    };
    let values = ["b", "a", "one", "atom"].map(|tool| call(&mut heap, tool));
    let one = heap.make_number(Number::Int(1)).unwrap();
    let keys = [
        heap.make_string(b"b"),
        heap.make_string(b"a"),
        one,
        heap.atom("atom"),
    ];
    let program = heap.make_map(&keys, &values);
    let mut lab = Lab::of_term(heap, program, STRICT).unwrap_or_else(|end| panic!("{end:?}"));
    lab.in_one_go();
    let tools = [r#""one" %{}"#, r#""atom" %{}"#, r#""a" %{}"#, r#""b" %{}"#];
    assert_eq!(lab.calls, tools);
}

#[test]
fn long_keys_are_in_order_too() {
    let mut heap = PlainHeap::new();
    let long = |end: &str| format!("{}{end}", "x".repeat(300));
    let keys = [long("b"), "y".into(), long("a"), "x".into()];
    let mut terms = Vec::new();
    for (key, tool) in keys.iter().zip(["third", "last", "second", "first"]) {
        let (key, tool) = (
            heap.make_string(key.as_bytes()),
            heap.make_string(tool.as_bytes()),
        );
        terms.push((key, op(&mut heap, "call", &[("tool", tool)])));
    }
    let (keys, values): (Vec<Term>, Vec<Term>) = terms.into_iter().unzip();
    let program = heap.make_map(&keys, &values);
    let mut lab = Lab::of_term(heap, program, STRICT).unwrap_or_else(|end| panic!("{end:?}"));
    lab.in_one_go();
    let tools = ["first", "second", "third", "last"];
    assert_eq!(lab.calls, tools.map(|tool| format!("{tool:?} %{{}}")));
}

/// The fuel for loading a program.
fn cost(build: impl FnOnce(&mut PlainHeap) -> Term) -> usize {
    let mut heap = PlainHeap::new();
    let program = build(&mut heap);
    let mut loader = Loader::of_term(program, load_options(EDITION_1));
    let mut meter = Meter::new(FREE, Pace::Quantum).with_quantum(LONG);
    let loaded = loader.step(b"", &mut heap, &mut meter);
    assert!(matches!(loaded, Ok(Ok(()))), "{loaded:?}");
    meter.fuel_consumed()
}

#[test]
fn a_large_constant_costs_nothing() {
    let rows = |heap: &mut PlainHeap| {
        let rows: Vec<Term> = (0..100_000)
            .map(|n| {
                let n = heap.make_number(Number::Int(n)).unwrap();
                map(heap, &[("n", n)])
            })
            .collect();
        heap.make_list(&rows)
    };
    let keys = |heap: &mut PlainHeap| {
        let keys: Vec<Term> = (0..100_000)
            .map(|n| heap.make_number(Number::Int(n)).unwrap())
            .collect();
        heap.make_map(&keys, &keys)
    };
    let literal = cost(|heap| {
        let rows = rows(heap);
        op(heap, "literal", &[("value", rows)])
    });
    let member = cost(|heap| {
        let (keys, field) = (keys(heap), heap.make_string(b"id"));
        op(heap, "filter_in", &[("field", field), ("value", keys)])
    });
    let args = cost(|heap| {
        let rows = rows(heap);
        let (args, tool) = (map(heap, &[("rows", rows)]), heap.make_string(b"t"));
        op(heap, "call", &[("tool", tool), ("args", args)])
    });
    assert!(
        literal.max(member).max(args) < 100,
        "{literal} {member} {args}"
    );
    // What is looked into is counted.
    let steps = cost(|heap| {
        let step = term(heap, r#"{"op":"count"}"#).unwrap();
        let steps = heap.make_list(&vec![step; 10_000]);
        op(heap, "pipe", &[("steps", steps)])
    });
    assert!(steps > 100_000, "{steps}");
}

#[test]
fn deep_programs_are_refused_before_they_are_copied() {
    let mut heap = PlainHeap::new();
    let mut program = heap.nil();
    for _ in 0..300_000 {
        program = op(&mut heap, "not", &[("condition", program)]);
    }
    heap.give();
    let options = Options {
        depth: 100,
        ..STRICT
    };
    let limits = Limits {
        words: 10_000,
        ..FREE
    };
    let loader = Loader::of_term(program, load_options(options));
    let end = Lab::load(heap, loader, b"", &mut || Meter::new(limits, Pace::Quantum)).err();
    assert!(
        matches!(&end, Some(End::Rejected(mistake)) if mistake.code == Code::TooDeep && mistake.terms == ["100"]),
        "{end:?}"
    );
}

#[test]
fn a_program_is_copied_within_the_heap_limit() {
    let mut heap = PlainHeap::new();
    let step = term(&mut heap, r#"{"op":"count"}"#).unwrap();
    let steps = heap.make_list(&vec![step; 100_000]);
    let program = op(&mut heap, "pipe", &[("steps", steps)]);
    heap.give();
    let limits = Limits {
        words: 100_000,
        ..FREE
    };
    let loader = Loader::of_term(program, load_options(STRICT));
    let end = Lab::load(heap, loader, b"", &mut || Meter::new(limits, Pace::Quantum)).err();
    assert_eq!(end, Some(End::MemoryExceeded));
}
