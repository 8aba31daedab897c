//! Observed programs: the same values as unobserved ones, and the recorded counts.

use crate::common::rng::Rng;
use crate::common::{generate, term, End, Suspended, DEEP, FREE, STRICT};
use ptc_json::{Document, Table};
use ptc_program::code::State;
use ptc_program::code::{Program, Vm};
use ptc_program::compile::{Failure, PathPart, Walk, INPUT_NAME};
use ptc_run::observed as report;
use ptc_term::heap::Heap;
use ptc_term::meter::{Meter, Pace};
use ptc_term::plain::{PlainHeap, Term};
use ptc_term::stop::Stop;
use ptc_vm::explain::Detail;
use ptc_vm::Halt;
use ptc_vm::{Counts, Exit, Inputs, Watch};

const ROWS: &str = r#"{"items":[{"n":1},{"n":2},{"n":3},{"n":4}]}"#;

fn compiled(heap: &mut PlainHeap, program: &str, detail: Detail) -> (Program, Vec<Term>) {
    compiled_or_rejected(heap, program, detail).expect("a program")
}

/// `None` for a program that the check rejects.
fn compiled_or_rejected(
    heap: &mut PlainHeap,
    program: &str,
    detail: Detail,
) -> Option<(Program, Vec<Term>)> {
    let mut table = Table::parse(program.as_bytes(), DEEP).expect("JSON");
    let mut walk = Walk::new(&mut table, 0, STRICT).observed(detail);
    let document = Document::new(program.as_bytes(), &table);
    walk.resume(&document, &mut |_, _| Ok(())).ok()?;
    let compiled = walk.finish(&document);
    let consts = compiled.consts.iter();
    let consts = consts.map(|node| document.build(*node, heap)).collect();
    Some((compiled.program, consts))
}

/// The result, the counts, and the names of the operations. `units`: the fuel of an execution.
fn observed(
    program: &str,
    context: &str,
    units: impl FnMut() -> usize,
) -> (Option<String>, Box<Watch>, Program) {
    observed_in(Detail::All, program, context, units)
}

fn observed_in(
    detail: Detail,
    program: &str,
    context: &str,
    mut units: impl FnMut() -> usize,
) -> (Option<String>, Box<Watch>, Program) {
    let mut heap = PlainHeap::new();
    let (program, consts) = compiled(&mut heap, program, detail);
    let context = term(&mut heap, context).expect("JSON");
    let memory = heap.make_map(&[], &[]);
    let input = Vm::input_of(&program, &mut heap, memory, INPUT_NAME.as_bytes());
    let mut watch = Box::new(Watch::new(&program.sites, program.detail));
    let now = |heap: &mut PlainHeap| heap.make_string(b"2024-02-29T10:30:00Z");
    let mut state = State::start(&program, &mut heap, input, now);
    let mut answer: Option<Term> = None;
    loop {
        let inputs = Inputs {
            consts: &consts,
            context,
            environment: memory,
        };
        let meter = match units() {
            0 => Meter::new(FREE, Pace::Quantum),
            units => Meter::with_fuel(FREE, units),
        };
        let mut vm = Vm::new(&program, &mut heap, inputs, state, meter);
        vm.observe(watch);
        let exit = match answer.take() {
            Some(answer) => vm.resume(answer),
            None => vm.run(),
        };
        watch = vm.take_watch().expect("the watch");
        let left = vm.into_state();
        let value = match exit {
            Exit::Fork { .. } | Exit::Ask { .. } => unreachable!("no run here forks"),
            Exit::Done(value) => Some(value),
            Exit::Call { args, .. } => {
                answer = Some(args);
                state = Suspended::new(left, &mut heap).resume(&heap);
                continue;
            }
            Exit::Halted(Halt::Stop(Stop::SliceOver)) => {
                state = Suspended::new(left, &mut heap).resume(&heap);
                continue;
            }
            Exit::Halted(_) => None,
        };
        return (value.map(|value| heap.show(value)), watch, program);
    }
}

/// The counts without the times.
fn timeless(watch: &Watch) -> Vec<Counts> {
    let counts = watch.counts().iter().cloned();
    counts
        .map(|counts| Counts {
            nanos: 0,
            waited: 0,
            breaks: 0,
            total_nanos: 0,
            ..counts
        })
        .collect()
}

const PROGRAM: &str = r#"{"op":"pipe","steps":[
  {"op":"load","name":"items"},
  {"op":"filter","where":{"op":"gt","field":"n","value":1}},
  {"op":"map","expr":{"a":{"op":"get","field":"m"},"b":{"op":"call","tool":"t","args":{}}}},
  {"op":"count"}]}"#;

#[test]
fn each_operation_is_counted_once_a_run() {
    let (value, watch, program) = observed(PROGRAM, ROWS, || 0);
    assert_eq!(value.as_deref(), Some("3"));
    let noted = |name: &str| {
        let sites = program.sites.iter().zip(watch.counts());
        let mut found = sites.filter(|(site, _)| site.name == name);
        found.next().expect("an operation of this name").1
    };
    assert_eq!((noted("pipe").runs, noted("pipe").ended), (1, 1));
    assert_eq!(noted("load").items_out, 4);
    assert_eq!(
        (noted("filter").items_in, noted("filter").items_out),
        (4, 3)
    );
    assert_eq!((noted("gt").runs, noted("gt").held), (4, 3));
    assert_eq!((noted("map").items_in, noted("map").items_out), (3, 3));
    assert_eq!(noted("gt").keys, [(4, 4)]);
    assert_eq!(noted("get").keys, [(3, 0)]);
    assert_eq!((noted("call").runs, noted("call").calls), (3, 3));
    assert_eq!(noted("count").items_in, 3);
    assert_eq!(watch.innermost(), None);
}

#[test]
fn findings_need_only_keys_and_filters() {
    let rows = r#"{"items":[{"n":1},{"n":2},{"n":3,"m":1}]}"#;
    let keep = |field| {
        format!(
            r#"{{"op":"pipe","steps":[{{"op":"load","name":"items"}},
               {{"op":"filter","where":{{"op":"eq","field":"{field}","value":1}}}},{{"op":"sum","field":"n"}}]}}"#
        )
    };
    for (field, value, kept, keys) in [
        ("n", "1", 1, (1, 1)),
        ("x", "0", 0, (3, 0)),
        ("m", "3", 1, (3, 1)),
    ] {
        let found = observed_in(Detail::Findings, &keep(field), rows, || 0);
        assert_eq!(found.0.as_deref(), Some(value));
        let counts = found.1.counts();
        assert_eq!(
            (counts[2].items_in, counts[2].lists_out, counts[2].items_out),
            (3, 1, kept)
        );
        assert_eq!(counts[3].keys, [keys], "{field}");
        assert!(counts
            .iter()
            .all(|counts| counts.nanos == 0 || counts.runs == 0));
    }
}

#[test]
fn leaving_anywhere_changes_no_finding() {
    let items: Vec<_> = (0..300).map(|n| format!(r#"{{"n":{n}}}"#)).collect();
    let context = format!(r#"{{"items":[{}]}}"#, items.join(","));
    let whole = observed_in(Detail::Findings, PROGRAM, &context, || 0);
    let mut rng = Rng::new(6);
    for longest in [1, 7, 40, 400] {
        let cut = observed_in(Detail::Findings, PROGRAM, &context, || {
            1 + rng.below(longest)
        });
        assert_eq!(cut.0, whole.0);
        assert_eq!(
            timeless(&cut.1),
            timeless(&whole.1),
            "up to {longest} units"
        );
    }
}

#[test]
fn leaving_anywhere_changes_no_count() {
    let items: Vec<_> = (0..300).map(|n| format!(r#"{{"n":{n}}}"#)).collect();
    let context = format!(r#"{{"items":[{}]}}"#, items.join(","));
    let whole = observed(PROGRAM, &context, || 0);
    let (mut rng, mut breaks) = (Rng::new(5), 0);
    for longest in [1, 7, 40, 400] {
        let cut = observed(PROGRAM, &context, || 1 + rng.below(longest));
        assert_eq!(cut.0, whole.0);
        assert_eq!(
            timeless(&cut.1),
            timeless(&whole.1),
            "up to {longest} units"
        );
        breaks += cut
            .1
            .counts()
            .iter()
            .map(|counts| counts.breaks)
            .sum::<u64>();
    }
    assert!(breaks > 100, "{breaks} breaks");
}

#[test]
fn random_programs_come_to_the_same() {
    let mut rng = Rng::new(23);
    for _ in 0..400 {
        let (program, context) = (generate::program(&mut rng, 4), generate::context(&mut rng));
        // Tools answer otherwise here.
        if program.contains(r#""call""#) {
            continue;
        }
        let plain = crate::common::run_in(STRICT, &program, &context, "{}");
        let units = 1 + rng.below(50);
        if let End::Rejected(_) = plain {
            continue;
        }
        let found = observed_in(Detail::Findings, &program, &context, || units).0;
        match (plain, observed(&program, &context, || units)) {
            (End::Value(value), (seen, watch, _)) => {
                assert_eq!(seen.as_ref(), Some(&value), "{program} over {context}");
                assert_eq!(found, seen, "{program} over {context}");
                assert_eq!(watch.innermost(), None);
            }
            (_, (seen, watch, _)) => {
                assert_eq!((seen, found), (None, None), "{program} over {context}");
                assert!(watch.innermost().is_some());
            }
        }
    }
}

#[test]
fn a_list_is_counted_once_and_not_once_a_round() {
    let items: Vec<_> = (0..2_000).map(|n| n.to_string()).collect();
    let context = format!(r#"{{"items":[{}]}}"#, items.join(","));
    // Counting anew each time would take 2,000 times 2,000 units.
    let program = r#"{"op":"let","name":"all","value":{"op":"load","name":"items"},"in":
      {"op":"pipe","steps":[{"op":"var","name":"all"},{"op":"map","expr":{"op":"var","name":"all"}},{"op":"count"}]}}"#;
    let mut executions = 0;
    let (value, watch, program) = observed(program, &context, || {
        executions += 1;
        1_000
    });
    assert_eq!(value.as_deref(), Some("2000"));
    assert!(executions < 100, "{executions} executions");
    let vars = program.sites.iter().zip(watch.counts());
    let most = vars.map(|(_, counts)| counts.items_out).max();
    assert_eq!(most, Some(4_000_000));
}

#[test]
fn values_that_are_converted_or_totalled_are_counted_once() {
    let rows = r#"{"items":[{"p":"a","q":"1"},{"p":"b","q":"x"},{"p":"c","q":null}]}"#;
    let sum = |expr: &str| {
        format!(
            r#"{{"op":"pipe","steps":[{{"op":"load","name":"items"}},{{"op":"sum","expr":{expr}}}]}}"#
        )
    };
    let get = |field: &str| format!(r#"{{"op":"get","field":"{field}"}}"#);
    let conversions = |field: &str| {
        [
            format!(r#"{{"op":"to_number","field":"{field}"}}"#),
            format!(r#"{{"op":"to_number","value":{}}}"#, get(field)),
            format!(
                r#"{{"op":"pipe","steps":[{},{{"op":"to_number"}}]}}"#,
                get(field)
            ),
        ]
    };
    // Of each the values that were given, those that were not null, and those that were made.
    let cases = [("p", (3, 3, 0), (3, 0)), ("q", (3, 2, 1), (3, 1))];
    for (field, converted, totalled) in cases {
        for program in conversions(field).map(|expr| sum(&expr)) {
            for units in [1, 2, 3, 5, 40] {
                let (_value, watch, compiled) = observed(&program, rows, || units);
                let counts = |name: &str| {
                    let mut sites = compiled.sites.iter().zip(watch.counts());
                    let (_, counts) = sites.find(|(site, _)| site.name == name).unwrap();
                    (counts.values.0, counts.values.1, counts.made)
                };
                assert_eq!(counts("to_number"), converted, "{program} {units}");
                let of_sum = (totalled.0, totalled.1, 0);
                assert_eq!(counts("sum"), of_sum, "{program} {units}");
            }
        }
    }
}

#[test]
fn operations_calls_and_names_are_terms() {
    let (_value, watch, program) = observed(PROGRAM, ROWS, || 0);
    let mut heap = PlainHeap::new();
    let (_program, consts) = compiled(&mut heap, PROGRAM, Detail::All);
    let names = report::context_names(&mut heap, &program, &consts);
    assert_eq!(heap.show(names), r#"["items"]"#);
    assert_eq!(report::call_number(&program, u32::MAX), 1);
    assert_eq!(report::call_number(&program, 0), 0);
    let all = report::operations(&mut heap, &program, &watch, &consts);
    let [innermost, rows] = *heap.elements(all).expect("a tuple") else {
        panic!("not two parts");
    };
    assert_eq!(heap.show(innermost), "nil");
    let (mut rest, mut seen) = (rows, Vec::new());
    while let Some((row, next)) = heap.uncons(rest) {
        let row = heap.elements(row).expect("a tuple").to_vec();
        assert_eq!((row.len(), heap.arity(row[3])), (5, Some(15)));
        seen.push((heap.show(row[0]), heap.show(row[1]), heap.show(row[2])));
        rest = next;
    }
    assert_eq!(seen.len(), program.sites.len());
    let (parent, place, name) = &seen[0];
    assert_eq!(
        (&parent[..], &place[..], &name[..]),
        ("nil", "[]", r#""pipe""#)
    );
}

#[test]
fn a_mistake_has_its_place() {
    let text = r#"{"op":"pipe","steps":[{"op":"load","name":"x"},
      {"op":"map","expr":{"a":{"op":"object","fields":{"b":{"op":"flter"}}}}}]}"#;
    let mut table = Table::parse(text.as_bytes(), DEEP).expect("JSON");
    let mut walk = Walk::new(&mut table, 0, STRICT).observed(Detail::All);
    let document = Document::new(text.as_bytes(), &table);
    let rejected = walk.resume(&document, &mut |_, _| Ok(()));
    assert!(matches!(rejected, Err(Failure::Rejected(_))));
    let path: Vec<String> = walk
        .mistake()
        .expect("it is observed")
        .iter()
        .map(|part| match part {
            PathPart::Field(name) => name.to_string(),
            PathPart::Index(index) => index.to_string(),
            PathPart::Key(node) => {
                String::from_utf8_lossy(document.text(*node).unwrap_or_default()).into_owned()
            }
        })
        .collect();
    assert_eq!(path, ["steps", "1", "expr", "a", "fields", "b"]);
}

#[test]
fn an_operation_in_a_template_has_a_path() {
    for (program, expected) in [
        (
            r#"{"op":"call","tool":"t","args":{"a":{"b":[1,{"op":"nope"}]}}}"#,
            &["args", "a", "b", "1"][..],
        ),
        (
            r#"{"op":"switch","cases":[{"when":{"op":"it"},"then":1},{"when":{"op":"it"},"then":[{"op":"nope"}]}]}"#,
            &["cases", "1", "then", "0"],
        ),
        (
            r#"{"op":"sort_by","by":[{"field":"a"},{"expr":{"op":"nope"}}]}"#,
            &["by", "1", "expr"],
        ),
        (
            r#"{"op":"if","condition":{"op":"it"},"then":[0,{"op":"nope"}],"else":1}"#,
            &["then", "1"],
        ),
    ] {
        let mut table = Table::parse(program.as_bytes(), DEEP).expect("JSON");
        let mut walk = Walk::new(&mut table, 0, STRICT).observed(Detail::All);
        let document = Document::new(program.as_bytes(), &table);
        let refused = walk.resume(&document, &mut |_, _| Ok(()));
        assert!(matches!(refused, Err(Failure::Rejected(_))), "{program}");
        let path = walk.mistake().expect("it is observed").iter();
        let path: Vec<String> = path
            .map(|part| match part {
                PathPart::Field(name) => name.to_string(),
                PathPart::Index(index) => index.to_string(),
                PathPart::Key(key) => {
                    let key = document.text(*key).expect("a key");
                    String::from_utf8(key.to_vec()).expect("UTF-8")
                }
            })
            .collect();
        assert_eq!(path, expected, "{program}");
    }
}
