//! The instructions of some programs, as they stand in a golden file: a change of the compiler shows there what it does.

use crate::common::{Lab, STRICT};
use ptc_term::plain::PlainHeap;
use ptc_vm::listing::listing;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/listings.txt");

const PROGRAMS: &[&str] = &[
    r#"{"op": "add", "left": 1, "right": 2}"#,
    r#"{"op": "literal", "value": {"a": [1, null]}}"#,
    r#"{"op": "if", "condition": {"op": "load", "name": "a"}, "then": {"n": 1}, "else": []}"#,
    r#"{"op": "let", "name": "n", "value": {"op": "load", "name": "a"}, "in": {"op": "mul", "left": {"op": "var", "name": "n"}, "right": {"op": "var", "name": "n"}}}"#,
    r#"{"op": "pipe", "steps": [{"op": "load", "name": "people"}, {"op": "map", "expr": {"op": "get", "field": "name"}}]}"#,
    r#"{"op": "pipe", "steps": [{"op": "load", "name": "orders"}, {"op": "filter", "where": {"op": "gt", "field": "total", "value": 100}}, {"op": "sum", "field": "total"}]}"#,
    r#"{"op": "pipe", "steps": [{"op": "load", "name": "orders"}, {"op": "filter", "where": {"op": "eq", "field": "paid", "value": true}}, {"op": "first"}]}"#,
    r#"{"op": "pipe", "steps": [{"op": "load", "name": "orders"}, {"op": "map", "expr": {"op": "get", "field": "id"}}, {"op": "count"}]}"#,
    r#"{"op": "pipe", "steps": [{"op": "load", "name": "orders"}, {"op": "group_by", "field": "customer", "each": {"spent": {"op": "sum", "field": "total"}}}]}"#,
    r#"{"op": "pipe", "steps": [{"op": "load", "name": "ids"}, {"op": "map", "expr": {"op": "call", "tool": "price", "args": {"id": {"op": "it"}}, "on_error": null}}]}"#,
    r#"{"op": "and", "conditions": [{"op": "gt", "value": 5}, {"op": "or", "conditions": [{"op": "lt", "value": 9}, {"op": "eq", "value": 10}]}]}"#,
    r#"{"op": "switch", "cases": [{"when": {"op": "gt", "field": "n", "value": 5}, "then": "big"}], "default": "small"}"#,
    r#"{"op": "pipe", "steps": [{"op": "range", "from": 1, "to": 10}, {"op": "fold", "init": 0, "expr": {"op": "add", "left": {"op": "var", "name": "acc"}, "right": {"op": "it"}}}]}"#,
    r#"{"op": "pipe", "steps": [{"op": "load", "name": "orders"}, {"op": "set", "fields": {"due": {"op": "sub", "left": {"op": "get", "field": "total"}, "right": {"op": "get", "field": "paid", "default": 0}}}}, {"op": "sort_by", "field": "due", "order": "desc"}, {"op": "take", "count": 3}]}"#,
];

fn listed(program: &str) -> String {
    let text = format!(r#"{{"program": {program}}}"#);
    let lab = match Lab::of_text(PlainHeap::new(), text.as_bytes(), STRICT) {
        Ok(lab) => lab,
        Err(end) => panic!("{program}: {end:?}"),
    };
    let constants = lab.heap.show_all(&lab.consts);
    let constants: Vec<_> = (0..).zip(constants).collect();
    format!("{program}\n\n{}\n", listing(&lab.program, &constants))
}

#[test]
fn are_those_of_the_golden_file() {
    let wanted: String = PROGRAMS.iter().map(|program| listed(program)).collect();
    crate::written::assert_written(FILE, &wanted, "-p ptc_program listings::");
}
