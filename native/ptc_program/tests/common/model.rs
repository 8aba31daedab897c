//! Types and values as plain Rust, made from any bytes: inputs for the walks of signatures.

use ptc_term::heap::Heap;
use ptc_term::number::Number;
use ptc_term::plain::{PlainHeap, Term};
use ptc_type::{Field, Scalar, Type, TypeId, Types};
use std::collections::HashMap;

/// Decisions from bytes; the first choice when no byte is left.
pub struct Choices<'a>(pub &'a [u8]);

impl Choices<'_> {
    pub fn below(&mut self, end: usize) -> usize {
        let Some((first, rest)) = self.0.split_first() else {
            return 0;
        };
        self.0 = rest;
        usize::from(*first) % end
    }

    fn pick<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())].clone()
    }
}

/// Names of fields and keys: some match one another, some are firewalled.
pub const NAMES: [&str; 7] = ["a", "b", "x_y", "x-y", "_t", "-t", "c"];
pub const ATOMS: [&str; 5] = ["nil", "true", "false", "ok", "a"];
const STRINGS: [&str; 9] = [
    "1",
    "x",
    "2.5e1",
    "true",
    "ok",
    "",
    "no such atom",
    "-07",
    "d",
];

#[derive(Debug, Clone, PartialEq)]
pub enum Ty {
    Scalar(Scalar),
    Optional(Box<Ty>),
    List(Box<Ty>),
    Map(Vec<(&'static str, Ty)>, bool),
}

#[derive(Debug, Clone, PartialEq)]
pub enum Val {
    Atom(&'static str),
    Int(i64),
    Float(f64),
    Str(String),
    /// The last value is the end of an improper list.
    List(Vec<Val>, Option<Box<Val>>),
    /// Keys are atoms or strings.
    Map(Vec<((bool, String), Val)>),
    Tuple,
}

pub fn ty(choices: &mut Choices, depth: usize) -> Ty {
    match choices.below(if depth == 0 { 3 } else { 8 }) {
        0..=2 => Ty::Scalar(choices.pick(&Scalar::ALL)),
        3 => Ty::Optional(Box::new(ty(choices, depth - 1))),
        4 | 5 => Ty::List(Box::new(ty(choices, depth - 1))),
        _ => {
            let closed = choices.below(3) == 2;
            let count = choices.below(4);
            let field = |choices: &mut Choices| (choices.pick(&NAMES), ty(choices, depth - 1));
            Ty::Map((0..count).map(|_| field(choices)).collect(), closed)
        }
    }
}

/// A value that is mostly almost of a type.
pub fn val(choices: &mut Choices, of: &Ty, depth: usize) -> Val {
    if choices.below(8) == 7 {
        return any(choices, depth);
    }
    match of {
        Ty::Scalar(Scalar::String) => Val::Str(choices.pick(&STRINGS).into()),
        Ty::Scalar(Scalar::Int) => Val::Int(choices.below(100) as i64 - 50),
        Ty::Scalar(Scalar::Float) => Val::Float(choices.below(100) as f64 / 8.0),
        Ty::Scalar(Scalar::Number) if choices.below(2) == 0 => Val::Float(2.5),
        Ty::Scalar(Scalar::Number) => Val::Int(choices.below(100) as i64 - 50),
        Ty::Scalar(Scalar::Bool | Scalar::Keyword) => Val::Atom(choices.pick(&ATOMS)),
        Ty::Scalar(Scalar::Map) => Val::Map(vec![((true, "a".into()), any(choices, 0))]),
        Ty::Scalar(Scalar::Any | Scalar::DateTime | Scalar::Date | Scalar::Decimal) => {
            any(choices, depth.min(1))
        }
        Ty::Optional(_) if choices.below(3) == 0 => Val::Atom("nil"),
        Ty::Optional(inner) => val(choices, inner, depth),
        Ty::List(inner) => {
            let count = choices.below(5);
            let items = (0..count).map(|_| val(choices, inner, depth.saturating_sub(1)));
            let items = items.collect();
            let end = (choices.below(12) == 11).then(|| Box::new(any(choices, 0)));
            Val::List(items, end.filter(|_| count > 0)).proper()
        }
        Ty::Map(fields, _) => {
            let mut entries = Vec::new();
            for (name, of) in fields {
                if choices.below(8) < 7 {
                    let name = match choices.below(6) {
                        0 => name.replace('_', "-"),
                        1 => name.replace('-', "_"),
                        _ => name.to_string(),
                    };
                    let key = (choices.below(2) == 0, name);
                    entries.push((key, val(choices, of, depth.saturating_sub(1))));
                }
            }
            // Now and then more keys than a flat map has.
            let more = [0, 0, 1, 40][choices.below(4)];
            entries.extend((0..more).map(|n| ((false, format!("more {n:02}")), Val::Int(n))));
            Val::Map(entries).with_keys_once()
        }
    }
}

fn any(choices: &mut Choices, depth: usize) -> Val {
    match choices.below(if depth == 0 { 6 } else { 8 }) {
        0 => Val::Atom(choices.pick(&ATOMS)),
        1 => Val::Int(choices.below(200) as i64),
        2 => Val::Float(choices.below(200) as f64 / 4.0),
        3 | 4 => Val::Str(choices.pick(&STRINGS).into()),
        5 => Val::Tuple,
        6 => Val::List(vec![any(choices, depth - 1)], None),
        _ => Val::Map(vec![(
            (false, choices.pick(&NAMES).into()),
            any(choices, depth - 1),
        )]),
    }
}

impl Val {
    fn with_keys_once(self) -> Val {
        let Val::Map(entries) = self else { return self };
        let mut once: Vec<((bool, String), Val)> = Vec::new();
        for (key, value) in entries {
            if !once.iter().any(|(other, _)| *other == key) {
                once.push((key, value));
            }
        }
        Val::Map(once)
    }

    /// A list that ends in a list is a list.
    fn proper(self) -> Val {
        match self {
            Val::List(mut items, Some(end)) => match *end {
                Val::List(more, end) => {
                    items.extend(more);
                    Val::List(items, end)
                }
                end => Val::List(items, Some(Box::new(end))),
            },
            other => other,
        }
    }

    /// Returns the value at an atom or a string.
    pub fn at(&self, is_atom: bool, name: &str) -> Option<&Val> {
        let Val::Map(entries) = self else { return None };
        let is_it = |((atom, other), _): &&((bool, String), Val)| *atom == is_atom && other == name;
        entries.iter().find(is_it).map(|(_, value)| value)
    }

    /// Makes the term; equal parts become the same term.
    pub fn term(&self, heap: &mut PlainHeap, made: &mut HashMap<String, Term>) -> Term {
        let shown = format!("{self:?}");
        if let Some(term) = made.get(&shown) {
            return *term;
        }
        let term = match self {
            Val::Atom(name) => heap.atom(name),
            Val::Int(value) => heap.make_number(Number::Int(*value)).expect("an integer"),
            Val::Float(value) => heap.make_number(Number::Float(*value)).expect("finite"),
            Val::Str(text) => heap.make_string(text.as_bytes()),
            Val::Tuple => {
                let nil = heap.nil();
                heap.tuple(&[nil])
            }
            Val::List(items, end) => {
                let end = match end {
                    Some(end) => end.term(heap, made),
                    None => heap.make_list(&[]),
                };
                let items: Vec<Term> = items.iter().map(|item| item.term(heap, made)).collect();
                let cons = |tail, item| heap.cons(item, tail);
                items.into_iter().rev().fold(end, cons)
            }
            Val::Map(entries) => {
                let (mut keys, mut values) = (Vec::new(), Vec::new());
                for ((is_atom, name), value) in entries {
                    keys.push(match is_atom {
                        true => heap.atom(name),
                        false => heap.make_string(name.as_bytes()),
                    });
                    values.push(value.term(heap, made));
                }
                heap.make_map(&keys, &values)
            }
        };
        made.insert(shown, term);
        term
    }
}

/// Adds a type to a table, its parts first.
pub fn add(types: &mut Types, of: &Ty) -> TypeId {
    let of = match of {
        Ty::Scalar(scalar) => Type::Scalar(*scalar),
        Ty::Optional(inner) => Type::Optional(add(types, inner)),
        Ty::List(inner) => Type::List(add(types, inner)),
        Ty::Map(fields, closed) => {
            let field = |(name, of): &(&'static str, Ty)| Field {
                name: name.as_bytes(),
                holds: add(types, of),
            };
            let fields: Vec<Field> = fields.iter().map(field).collect();
            Type::Map {
                fields: types.add_fields(fields.into_iter()),
                closed: *closed,
            }
        }
    };
    types.add(of)
}
