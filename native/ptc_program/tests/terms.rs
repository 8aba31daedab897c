//! Terms that JSON cannot represent, and parts that were never checked.

use crate::common::{run_unchecked, End, Lab, STRICT};
use ptc_program::fault::Code;
use ptc_term::heap::Heap;
use ptc_term::plain::{Opaque, PlainHeap, Term};

/// A program over one term that JSON cannot represent, as the current value.
fn over_term(program: &str, make: impl FnOnce(&mut PlainHeap) -> Term) -> End {
    let mut heap = PlainHeap::new();
    let (input, key) = (make(&mut heap), heap.make_string(b"__input"));
    let memory = heap.make_map(&[key], &[input]);
    let mut lab =
        Lab::of_text(heap, program.as_bytes(), STRICT).unwrap_or_else(|end| panic!("{end:?}"));
    lab.memory = memory;
    lab.in_one_go()
}

fn faults(end: End, code: Code, terms: &[&str]) {
    match end {
        End::Fault(mistake) => assert_eq!(
            (mistake.code, mistake.terms),
            (code, terms.iter().map(|term| term.to_string()).collect())
        ),
        end => panic!("{end:?}"),
    }
}

#[test]
fn terms_that_json_cannot_say() {
    let typeof_ = r#"{"op":"typeof"}"#;
    faults(
        over_term(typeof_, |heap| heap.atom("ok")),
        Code::NoTypeName,
        &[":ok"],
    );
    faults(
        over_term(typeof_, |heap| heap.tuple(&[])),
        Code::NoTypeName,
        &["{}"],
    );
    faults(
        over_term(typeof_, |heap| heap.opaque(Opaque::Pid, 1)),
        Code::NoTypeName,
        &["#Pid<1>"],
    );
    assert_eq!(
        over_term(typeof_, |heap| heap.make_string(&[255])),
        End::Value(r#""string""#.into())
    );
    let improper = |heap: &mut PlainHeap| heap.cons(heap.boolean(true), heap.boolean(false));
    // No operation takes an improper list, whatever else is wrong.
    for step in [
        r#"{"op":"count"}"#,
        r#"{"op":"first"}"#,
        r#"{"op":"drop","count":1}"#,
        r#"{"op":"take","count":0}"#,
        r#"{"op":"sum","field":"n"}"#,
        r#"{"op":"map","expr":{"op":"keys"}}"#,
        r#"{"op":"distinct"}"#,
        r#"{"op":"filter","where":{"op":"var","name":"__input"}}"#,
        r#"{"op":"select","fields":[]}"#,
        r#"{"op":"map","expr":{"op":"call","tool":"never"}}"#,
        r#"{"op":"sort_by","field":"n"}"#,
    ] {
        faults(
            over_term(step, improper),
            Code::NeedsList,
            &["[true | false]"],
        );
    }
    // Membership looks at what comes before the tail.
    assert_eq!(
        over_term(r#"{"op":"in","value":true}"#, improper),
        End::Value("true".into())
    );
    assert_eq!(
        over_term(r#"{"op":"in","value":false}"#, improper),
        End::Value("false".into())
    );
    let atom_keys = |heap: &mut PlainHeap| {
        let keys = [heap.atom("a"), heap.make_string(b"a"), heap.boolean(true)];
        heap.make_map(&keys, &keys)
    };
    assert_eq!(
        over_term(r#"{"op":"keys"}"#, atom_keys),
        End::Value(r#"[:a, true, "a"]"#.into())
    );
}

#[test]
fn parts_that_were_never_checked() {
    for (program, code, terms) in [
        ("5", Code::NodeNotAMap, vec!["5"]),
        (r#"{"op":null}"#, Code::MissingOp, vec![]),
        (r#"{"op":42}"#, Code::UnknownOp, vec!["42"]),
        (r#"{"op":"load","name":1}"#, Code::ContextKey, vec!["1"]),
        (r#"{"op":"var"}"#, Code::MemoryKey, vec!["nil"]),
        (
            r#"{"op":"let","name":[],"value":{}}"#,
            Code::LetName,
            vec!["[]"],
        ),
        (
            r#"{"op":"let","name":[],"value":{"op":"count"}}"#,
            Code::NoInput,
            vec![],
        ),
        (r#"{"op":"not"}"#, Code::NodeNotAMap, vec!["nil"]),
        (
            r#"{"op":"pipe","steps":1}"#,
            Code::UncheckedNotList,
            vec!["1"],
        ),
        (
            r#"{"op":"object","fields":[]}"#,
            Code::UncheckedNotMap,
            vec!["[]"],
        ),
        (
            r#"{"op":"take","count":-1,"__input":[]}"#,
            Code::NotACount,
            vec!["-1"],
        ),
        (
            r#"{"op":"nth","index":1.0,"__input":[]}"#,
            Code::NotACount,
            vec!["1.0"],
        ),
        (
            r#"{"op":"nth","index":1.0,"__input":{}}"#,
            Code::NeedsList,
            vec!["%{}"],
        ),
        (
            r#"{"op":"get","path":"a","__input":{}}"#,
            Code::UncheckedNotList,
            vec![r#""a""#],
        ),
        (
            r#"{"op":"select","fields":1,"__input":{}}"#,
            Code::UncheckedNotList,
            vec!["1"],
        ),
    ] {
        faults(run_unchecked(program, "{}"), code, &terms);
    }
    for (program, value) in [
        (r#"{"op":"pipe"}"#, "nil"),
        (r#"{"op":"and"}"#, "true"),
        (r#"{"op":"merge"}"#, "%{}"),
        (r#"{"op":"zip"}"#, "[]"),
        (r#"{"op":"object"}"#, "%{}"),
        (r#"{"op":"get","__input":1}"#, "1"),
        (r#"{"op":"select","__input":[{"a":1}]}"#, "[%{}]"),
        (r#"{"op":"literal"}"#, "nil"),
        (
            r#"{"op":"sort_by","field":"n","order":"up","__input":[{"n":2},{"n":1}]}"#,
            r#"[%{"n" => 1}, %{"n" => 2}]"#,
        ),
        (r#"{"op":"map","__input":[]}"#, "[]"),
    ] {
        assert_eq!(
            run_unchecked(program, "{}"),
            End::Value(value.into()),
            "{program}"
        );
    }
}
