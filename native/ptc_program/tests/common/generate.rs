//! Random JSON texts, programs and terms. They are small on purpose: small cases show errors, and are
//! readable.

use super::rng::Rng;
use super::term;
use ptc_program::edition::Edition;
use ptc_program::ops::{Field, FieldKind, OpCode};
use ptc_term::heap::Heap;
use ptc_term::plain::{Opaque, PlainHeap, Term};

/// Few names, so that look-ups find what other parts have made.
const NAMES: &[&str] = &["a", "b", "items", "n", "__input", "result", ""];

const NUMBERS: &[&str] = &[
    "0",
    "-0",
    "1",
    "-1",
    "2",
    "1.0",
    "0.0",
    "-0.0",
    "2.5",
    "1e3",
    "1E-7",
    "5e-324",
    "1e308",
    "9223372036854775807",
    "-9223372036854775808",
    "9223372036854775808",
    "9007199254740993",
    "123456789012345678901234567890",
];

const STRINGS: &[&str] = &[
    r#""""#,
    r#""a""#,
    r#""b""#,
    r#""items""#,
    r#""é""#,
    r#""\u0041""#,
    r#""\ud83d\ude00""#,
    r#""\n\t\"\\\/""#,
    r#""op""#,
    r#""asc""#,
    r#""desc""#,
    r#""日本""#,
];

/// The text of a JSON value.
pub fn json(rng: &mut Rng, depth: usize) -> String {
    let size = rng.below(4);
    match rng.below(if depth == 0 { 5 } else { 8 }) {
        0 => rng.pick(&["null", "true", "false"]).to_string(),
        1 | 2 => rng.pick(NUMBERS).to_string(),
        3 | 4 => rng.pick(STRINGS).to_string(),
        5 | 6 => object(rng, depth - 1),
        _ => {
            let items: Vec<_> = (0..size).map(|_| json(rng, depth - 1)).collect();
            format!("[{}]", items.join(","))
        }
    }
}

/// An object, sometimes with a repeated key.
fn object(rng: &mut Rng, depth: usize) -> String {
    let pairs: Vec<_> = (0..rng.below(4))
        .map(|_| {
            let key = rng.pick(STRINGS);
            format!("{key} : {}", json(rng, depth))
        })
        .collect();
    format!("{{{}}}", pairs.join(", "))
}

/// A context for programs with the same names.
pub fn context(rng: &mut Rng) -> String {
    let items: Vec<_> = (0..rng.below(6)).map(|_| item(rng)).collect();
    let (a, n) = (json(rng, 2), rng.pick(NUMBERS));
    format!(r#"{{"items":[{}],"a":{a},"n":{n}}}"#, items.join(","))
}

/// A row of the list of a context.
pub fn item(rng: &mut Rng) -> String {
    if rng.once_in(8) {
        return json(rng, 1);
    }
    let (a, b, n) = (json(rng, 0), json(rng, 1), rng.pick(NUMBERS));
    format!(r#"{{"a":{a},"b":{b},"n":{n}}}"#)
}

/// A program built from the table of operations; sometimes with an error.
pub fn program(rng: &mut Rng, depth: usize) -> String {
    match rng.below(40) {
        0 => return json(rng, 1),
        1 | 2 => return object_of(rng, depth.saturating_sub(1)),
        // What most programs are: some steps over a list.
        3..12 if depth > 0 => {
            let steps: Vec<_> = (0..rng.below(4)).map(|_| program(rng, depth - 1)).collect();
            let steps: String = steps.iter().flat_map(|step| [",", step]).collect();
            let load = r#"{"op":"load","name":"items"}"#;
            return format!(r#"{{"op":"pipe","steps":[{load}{steps}]}}"#);
        }
        _ => {}
    }
    let op = match depth {
        0 => rng.pick(&[OpCode::Load, OpCode::Var, OpCode::Literal, OpCode::Get]),
        _ => rng.pick(OpCode::ALL),
    };
    let mut text = format!(r#"{{"op":"{}""#, op.name());
    let mut has_form = false;
    for field in op.fields(Edition::Two) {
        let is_form = ["by", "expr", "field", "key", "left", "path"].contains(&field.name);
        if is_form && !field.is_required() && std::mem::replace(&mut has_form, true) {
            continue;
        }
        let left_out = if field.is_required() { 60 } else { 2 };
        if rng.once_in(left_out) {
            continue;
        }
        let value = match rng.once_in(60) {
            true => json(rng, 1),
            false => field_value(rng, field, depth.saturating_sub(1)),
        };
        text.push_str(&format!(r#","{}":{value}"#, field.name));
    }
    if rng.once_in(20) {
        text.push_str(&format!(r#","__input":{}"#, json(rng, 2)));
    }
    text.push('}');
    text
}

/// A value with operations in it.
fn template(rng: &mut Rng, depth: usize) -> String {
    match rng.below(4) {
        0 => json(rng, 2),
        1 => object_of(rng, depth),
        2 => format!("[{},{}]", json(rng, 1), program(rng, depth)),
        _ => program(rng, depth),
    }
}

fn object_of(rng: &mut Rng, depth: usize) -> String {
    let pairs: Vec<_> = (0..rng.below(4))
        .map(|_| format!(r#""{}":{}"#, rng.pick(NAMES), template(rng, depth)))
        .collect();
    format!("{{{}}}", pairs.join(","))
}

fn field_value(rng: &mut Rng, field: &Field, depth: usize) -> String {
    match field.kind {
        FieldKind::Any if rng.once_in(2) => program(rng, depth),
        FieldKind::Any => json(rng, 2),
        FieldKind::String => format!(r#""{}""#, rng.pick(NAMES)),
        FieldKind::Map => object_of(rng, depth),
        FieldKind::Expr | FieldKind::Operand => program(rng, depth),
        FieldKind::Order => rng.pick(&[r#""asc""#, r#""desc""#, "null"]).to_string(),
        FieldKind::Count => rng
            .pick(&["0", "1", "2", "100000000000000000000"])
            .to_string(),
        FieldKind::ExprList => {
            let parts: Vec<_> = (0..rng.below(4)).map(|_| program(rng, depth)).collect();
            format!("[{}]", parts.join(","))
        }
        FieldKind::Template => template(rng, depth),
        FieldKind::TemplateList => {
            let parts: Vec<_> = (0..rng.below(4)).map(|_| template(rng, depth)).collect();
            format!("[{}]", parts.join(","))
        }
        FieldKind::Parts => match rng.once_in(3) {
            true => program(rng, depth),
            false => format!("[{},{}]", template(rng, depth), template(rng, depth)),
        },
        FieldKind::TemplateMap => object_of(rng, depth),
        FieldKind::StringMap => {
            let (old, new) = (rng.pick(NAMES), rng.pick(NAMES));
            format!(r#"{{"{old}":"{new}"}}"#)
        }
        FieldKind::Text | FieldKind::NonEmptyText => match rng.once_in(3) {
            true => program(rng, depth),
            false => format!(r#""{}""#, rng.pick(NAMES)),
        },
        FieldKind::Pattern => rng
            .pick(&[
                r#""a""#,
                r#""(a)(b)?""#,
                r#""(?P<n>.)""#,
                r#""[a-z]*""#,
                r#""(""#,
            ])
            .to_string(),
        FieldKind::Choice => {
            let choices: Vec<_> = field
                .choices
                .iter()
                .map(|it| format!(r#""{it}""#))
                .collect();
            choices[rng.below(choices.len())].clone()
        }
        FieldKind::Positive => rng
            .pick(&["1", "2", "3", "100000000000000000000"])
            .to_string(),
        FieldKind::Places => format!("{}", rng.below(22)),
        FieldKind::Percent => rng.pick(&["0", "50", "99.5", "100"]).to_string(),
        FieldKind::Boolean => rng.pick(&["true", "false"]).to_string(),
        FieldKind::Cases => {
            let case = |rng: &mut Rng| {
                let (when, then) = (program(rng, depth), template(rng, depth));
                format!(r#"{{"when":{when},"then":{then}}}"#)
            };
            let cases: Vec<_> = (0..rng.below(3)).map(|_| case(rng)).collect();
            format!("[{}]", cases.join(","))
        }
        FieldKind::SortKeys => {
            let key = |rng: &mut Rng| match rng.once_in(2) {
                true => format!(r#"{{"field":"{}"}}"#, rng.pick(NAMES)),
                false => format!(r#"{{"expr":{},"order":"desc"}}"#, program(rng, depth)),
            };
            let keys: Vec<_> = (0..1 + rng.below(2)).map(|_| key(rng)).collect();
            format!("[{}]", keys.join(","))
        }
        FieldKind::StringList => {
            let names: Vec<_> = (0..rng.below(3))
                .map(|_| format!(r#""{}""#, rng.pick(NAMES)))
                .collect();
            format!("[{}]", names.join(","))
        }
    }
}

/// The text with one to three bytes changed, removed, duplicated or inserted; or cut off.
pub fn mutated(rng: &mut Rng, text: &str) -> Vec<u8> {
    const BYTES: &[u8] =
        b"{}[]\",:\\/-+.0123456789eEaunltrfsbx \t\n\r\x00\x1f\x7f\x80\xbf\xc2\xe2\xed\xf0\xff";
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..1 + rng.below(3) {
        let at = rng.below(bytes.len() + 1);
        match rng.below(5) {
            0 => bytes.insert(at, rng.pick(BYTES)),
            1 => bytes.truncate(at),
            2 if at < bytes.len() => bytes[at] = rng.pick(BYTES),
            3 if at < bytes.len() => drop(bytes.remove(at)),
            4 if at < bytes.len() => bytes.insert(at, bytes[at]),
            _ => {}
        }
    }
    bytes
}

/// Any term, including terms that JSON cannot represent.
pub fn any_term(rng: &mut Rng, heap: &mut PlainHeap, depth: usize) -> Term {
    let size = rng.below(4);
    let parts = |rng: &mut Rng, heap: &mut PlainHeap| -> Vec<Term> {
        (0..size).map(|_| any_term(rng, heap, depth - 1)).collect()
    };
    match rng.below(if depth == 0 { 6 } else { 10 }) {
        0 => heap.atom(rng.pick(&["nil", "true", "false", "ok", "__struct__", "a"])),
        1 => {
            let kinds = [Opaque::Reference, Opaque::Fun, Opaque::Port, Opaque::Pid];
            heap.opaque(rng.pick(&kinds), rng.below(2) as u64)
        }
        2 => heap.make_string(&[255, 0][..rng.below(3)]),
        3 => heap.make_list(&[]),
        4 => term(heap, rng.pick(NUMBERS)).expect("a number"),
        5 => term(heap, rng.pick(STRINGS)).expect("a string"),
        6 => {
            let elements = parts(rng, heap);
            heap.tuple(&elements)
        }
        7 => {
            let (keys, values) = (parts(rng, heap), parts(rng, heap));
            heap.make_map(&keys, &values)
        }
        8 => {
            let items = parts(rng, heap);
            heap.make_list(&items)
        }
        _ => {
            let tail = any_term(rng, heap, 0);
            let items = parts(rng, heap);
            items
                .into_iter()
                .fold(tail, |tail, head| heap.cons(head, tail))
        }
    }
}

/// A context with the names of these programs, and any terms in it.
pub fn any_context(rng: &mut Rng, heap: &mut PlainHeap) -> Term {
    let keys: Vec<_> = NAMES
        .iter()
        .map(|name| heap.make_string(name.as_bytes()))
        .collect();
    let values: Vec<_> = NAMES.iter().map(|_| any_term(rng, heap, 3)).collect();
    heap.make_map(&keys, &values)
}
