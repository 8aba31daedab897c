//! The fuzzer's dictionary of programs names every operation and every field.

use ptc_program::edition::Edition;
use ptc_program::ops::OpCode;
use std::collections::BTreeSet;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/program.dict");

#[test]
fn is_that_of_the_operations() {
    let quoted = |text: &str| format!("\"{}\"\n", text.replace('"', r"\x22"));
    let fields = OpCode::ALL.iter().flat_map(|op| op.fields(Edition::Two));
    let fields: BTreeSet<&str> = fields.map(|field| field.name).collect();
    let operations = OpCode::ALL
        .iter()
        .map(|op| format!(r#""op":"{}""#, op.name()));
    let fields = fields
        .into_iter()
        .chain(["__input"])
        .map(|name| format!(r#","{name}":"#));
    let values = ["a", "b", "items", "n"].map(|text| format!(r#""{text}""#));
    let entries = operations.chain(fields).chain(values);
    let wanted: String = entries.map(|entry| quoted(&entry)).collect();
    crate::written::assert_written(FILE, &wanted, "-p ptc_program dictionary::");
}
