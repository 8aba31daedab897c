//! Programs and data nested 100,000 deep, on a stack of 256 KiB.

use crate::common::{oracle, term, End, Lab, STRICT, UNCHECKED};
use ptc_term::heap::Heap;
use ptc_term::plain::PlainHeap;

const DEPTH: usize = 100_000;

fn on_a_small_stack(test: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(256 * 1024);
    thread
        .spawn(test)
        .expect("a thread")
        .join()
        .expect("no overflow");
}

fn nested(open: &str, inner: &str, close: &str) -> String {
    format!("{}{inner}{}", open.repeat(DEPTH), close.repeat(DEPTH))
}

fn ends(program: String) -> End {
    let text = program.as_bytes();
    let unchecked = Lab::of_text(PlainHeap::new(), text, UNCHECKED).map(|mut lab| lab.in_one_go());
    match Lab::of_text(PlainHeap::new(), text, STRICT) {
        Ok(mut lab) => {
            let end = lab.in_one_go();
            assert_eq!(Ok(&end), unchecked.as_ref());
            end
        }
        Err(end) => end,
    }
}

#[test]
fn programs() {
    on_a_small_stack(|| {
        let not = nested(r#"{"op":"not","condition":"#, "{}", "}");
        assert_eq!(ends(not), End::Value("true".into()));
        let pipe = nested(
            r#"{"op":"pipe","steps":["#,
            r#"{"op":"literal","value":1}"#,
            "]}",
        );
        assert_eq!(ends(pipe), End::Value("1".into()));
        let bound = nested(
            r#"{"op":"let","name":"x","value":{"op":"literal","value":1},"in":"#,
            r#"{"op":"var","name":"x"}"#,
            "}",
        );
        assert_eq!(ends(bound), End::Value("1".into()));
        let mapped = nested(r#"{"op":"map","__input":[1],"expr":"#, "{}", "}");
        assert!(matches!(ends(mapped), End::Fault(_)));
        let wrong = nested(r#"{"op":"and","conditions":["#, "5", "]}");
        assert!(matches!(ends(wrong), End::Rejected(_)));
    });
}

#[test]
fn values() {
    on_a_small_stack(|| {
        let mut heap = PlainHeap::new();
        let text = nested(r#"[{"k":"#, "1", "}]");
        let other = nested(r#"[{"k":"#, "1.0", "}]");
        let (a, b) = (
            term(&mut heap, &text).expect("JSON"),
            term(&mut heap, &text).expect("JSON"),
        );
        let c = term(&mut heap, &other).expect("JSON");
        assert!(heap.identical(a, b) && heap.compare(a, b).is_eq());
        assert!(!heap.identical(a, c) && heap.compare(a, c).is_eq());
        assert_eq!(heap.hash(a, 5), heap.hash(b, 5));
        assert!(heap.show(a).starts_with(r#"[%{"k" => [%{"k" => ["#));
    });
}

#[test]
fn values_that_a_program_makes() {
    on_a_small_stack(|| {
        let made = nested(r#"{"k":{"op":"merge","objects":[{"l":1},"#, "{}", "]}}");
        assert!(matches!(ends(made), End::Value(_)));
        let literal = format!(
            r#"{{"op":"eq","value":{0},"__input":{0}}}"#,
            nested("[", "1", "]")
        );
        assert_eq!(ends(literal), End::Value("true".into()));
        let distinct = format!(
            r#"{{"op":"pipe","steps":[{{"op":"literal","value":[{0},{0}]}},{{"op":"distinct"}},{{"op":"count"}}]}}"#,
            nested("[", "1", "]")
        );
        assert_eq!(ends(distinct), End::Value("1".into()));
    });
}

#[test]
fn texts_that_end_in_the_middle() {
    on_a_small_stack(|| {
        for open in ["[", r#"{"a":"#, r#"[{"a":"#] {
            oracle::agree(open.repeat(DEPTH).as_bytes());
        }
    });
}
