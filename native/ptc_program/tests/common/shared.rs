//! A type, and a value of it with shared parts: a few bytes represent a value of any size.

use super::cost::{self, Cost};
use super::model::{add, ty, Choices, ATOMS, NAMES};
use ptc_term::heap::Heap;
use ptc_term::meter::Pace;
use ptc_term::number::Number;
use ptc_term::plain::{PlainHeap, Term};
use ptc_type::walk::Task;
use ptc_type::{Check, Coerce, Field, Purpose, Rules, Scalar, State, Type, TypeId, Types, Walk};
use std::collections::HashMap;

/// Depth of a type.
const DEPTH: usize = 12;
/// Fuel after which a walk remembers what it has found valid.
const BEFORE_MEMO: usize = 20_000;
/// Fuel per byte of the input, and per finding, warning, question or term made.
const FUEL_PER_PART: usize = 1_000;

/// Walks along a type over a value: checks it and coerces it. The fuel is linear in the input, the
/// findings, the warnings, the questions and what was made.
pub fn walk_cost(bytes: &[u8]) -> Cost {
    let mut choices = Choices(bytes);
    let mut heap = PlainHeap::new();
    for name in NAMES.iter().chain(&ATOMS) {
        heap.atom(name);
    }
    let mut types = Types::new();
    let root = add(&mut types, &ty(&mut choices, DEPTH));
    let mut maker = Maker {
        choices,
        heap: &mut heap,
        types: &types,
        last: HashMap::new(),
    };
    let value = maker.value(root);
    let mut fuel = 0;
    for purpose in [None, Some(Purpose::Coerce), Some(Purpose::Input)] {
        fuel += match purpose {
            None => walked(
                &mut heap,
                &types,
                (value, root),
                Check::by(Rules::default()),
                bytes,
                |_, _| 0,
            ),
            Some(purpose) => {
                let task = Coerce::new(purpose, None);
                let told = |task: &mut Coerce<Term>, heap: &PlainHeap| {
                    task.warnings.len() + task.questions(heap).0.len()
                };
                walked(&mut heap, &types, (value, root), task, bytes, told)
            }
        };
    }
    Cost {
        fuel,
        words: heap.words_built(),
    }
}

/// Returns the fuel of a walk.
fn walked<K: Task<PlainHeap>>(
    heap: &mut PlainHeap,
    types: &Types,
    root: (Term, TypeId),
    task: K,
    bytes: &[u8],
    told: impl Fn(&mut K, &PlainHeap) -> usize,
) -> usize {
    let built = |heap: &PlainHeap| heap.words_built() + heap.conses();
    let before = built(heap);
    let mut walk = Walk::new(
        heap,
        types,
        State::new(root, task),
        (cost::meter(), Pace::Quantum),
    );
    walk.remember_after(BEFORE_MEMO);
    // The walk remembers from its next quantum on.
    walk.pause_after(BEFORE_MEMO);
    if walk.run().is_err() && walk.fuel() >= BEFORE_MEMO {
        walk.refuel(cost::meter());
        let _ = walk.run();
    }
    let (fuel, findings) = (walk.fuel(), walk.state.findings.count());
    let told = told(&mut walk.state.task, walk.heap);
    let parts = bytes.len() + findings + told + built(heap) - before;
    cost::linear(bytes, parts, fuel, (2 * BEFORE_MEMO, FUEL_PER_PART));
    fuel
}

struct Maker<'a> {
    choices: Choices<'a>,
    heap: &'a mut PlainHeap,
    types: &'a Types,
    /// The last value of each type.
    last: HashMap<TypeId, Term>,
}

impl Maker<'_> {
    /// Returns a value that is mostly of a type, often one that was made before.
    fn value(&mut self, id: TypeId) -> Term {
        let choice = self.choices.below(16);
        match self.last.get(&id) {
            Some(last) if choice < 10 => return *last,
            _ if choice == 15 => return self.scalar(),
            _ => {}
        }
        let value = match self.types.get(id) {
            Type::Scalar(Scalar::Map) => self.map(Vec::new()),
            Type::OneOf(_) | Type::Ref(_) | Type::Defs(..) => self.scalar(),
            Type::Scalar(_) | Type::MapOf(_) | Type::Unknown(_) => self.scalar(),
            Type::Optional(inner) | Type::Where(inner, _) => self.value(inner),
            Type::List(holds) => {
                let count = self.choices.below(16);
                let items: Vec<Term> = (0..count).map(|_| self.value(holds)).collect();
                self.heap.make_list(&items)
            }
            Type::Map { fields, .. } => self.map(self.types.fields(fields).collect()),
        };
        self.last.insert(id, value);
        value
    }

    fn map(&mut self, fields: Vec<Field>) -> Term {
        let (mut keys, mut values) = (Vec::new(), Vec::new());
        for field in fields {
            let name = String::from_utf8_lossy(field.name);
            keys.push(match self.choices.below(2) {
                0 => self.heap.atom(&name),
                _ => self.heap.make_string(field.name),
            });
            values.push(self.value(field.holds));
        }
        // Now and then more keys than a flat map has.
        for more in 0..[0, 0, 0, 1, 40][self.choices.below(5)] {
            keys.push(self.heap.make_string(format!("more {more:02}").as_bytes()));
            values.push(self.heap.nil());
        }
        self.heap.make_map(&keys, &values)
    }

    fn scalar(&mut self) -> Term {
        let number = self.choices.below(16);
        match self.choices.below(8) {
            0 | 1 => self
                .heap
                .make_number(Number::Int(number as i64))
                .expect("an integer"),
            2 => self
                .heap
                .make_number(Number::Float(number as f64))
                .expect("finite"),
            3 => self.heap.make_string(&b"77777777.7777777"[..number]),
            4 => self
                .heap
                .make_string("7".repeat(number * number).as_bytes()),
            5 => self.heap.tuple(&[]),
            _ => self.heap.atom(ATOMS[number % ATOMS.len()]),
        }
    }
}
