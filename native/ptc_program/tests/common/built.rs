//! Terms from any bytes: a change of the bytes changes one part of the term.

use ptc_program::ops::OpCode;
use ptc_term::heap::Heap;
use ptc_term::number::Number;
use ptc_term::plain::{Opaque, PlainHeap, Term};

/// Maximum size of a term that can be shown, where every reference to a shared part counts.
pub const SHOWN: usize = 2_000;

const WORDS: &[&str] = &[
    "a", "b", "items", "n", "result", "", "é", "asc", "desc", "op",
];

/// A stack machine: a byte makes a term, or replaces some terms on the stack with one.
struct Stack<'h> {
    heap: &'h mut PlainHeap,
    /// Each term with its size.
    terms: Vec<(Term, usize)>,
    largest: usize,
}

/// Returns the term that the bytes represent; a part of it whose size is more than `largest` is `nil`.
pub fn term(heap: &mut PlainHeap, bytes: &[u8], largest: usize) -> Term {
    let mut stack = Stack {
        heap,
        terms: Vec::new(),
        largest,
    };
    let mut bytes = bytes.iter().copied();
    while let Some(byte) = bytes.next() {
        let more = bytes.clone().next().unwrap_or(0);
        stack.step(byte, more);
    }
    stack.pop().0
}

impl Stack<'_> {
    fn step(&mut self, byte: u8, more: u8) {
        let (what, count) = (byte % 16, usize::from(byte / 16));
        match what {
            0 | 1 => self.operation(more),
            2 => self.word(count),
            3 => self.small(i64::from(more) - 100),
            4 => self.float(f64::from(more) / 4.0),
            5 => self.large(count),
            6 => self.atom(count),
            7 => self.opaque(count),
            8 => self.string(&[more][..count.min(1)]),
            9 => self.list(count),
            10 => self.map(count),
            11 => self.tuple(count),
            12 => self.improper(),
            13 => self.again(count),
            14 => self.name(more),
            _ => drop(self.pop()),
        }
    }

    fn push(&mut self, term: Term, size: usize) {
        match size <= self.largest {
            true => self.terms.push((term, size)),
            false => self.terms.push((self.heap.nil(), 1)),
        }
    }

    fn pop(&mut self) -> (Term, usize) {
        self.terms.pop().unwrap_or((self.heap.nil(), 1))
    }

    /// Pops this many terms, and returns their size.
    fn pops(&mut self, count: usize) -> (Vec<Term>, usize) {
        let terms: Vec<_> = (0..count).map(|_| self.pop()).collect();
        let size = sum(terms.iter().map(|(_, size)| *size));
        (terms.into_iter().map(|(term, _)| term).collect(), size)
    }

    /// An operation whose fields are on the stack; `byte` also selects an omitted field.
    fn operation(&mut self, byte: u8) {
        let op = OpCode::ALL[usize::from(byte) % OpCode::ALL.len()];
        let fields = op.definition().fields_2;
        let left_out = usize::from(byte) / OpCode::ALL.len();
        let mut keys = vec![self.heap.make_string(b"op")];
        let mut values = vec![self.heap.make_string(op.name().as_bytes())];
        let mut size: usize = 1;
        for (place, field) in fields.iter().enumerate() {
            if !field.is_required() && place + 1 == left_out {
                continue;
            }
            let (value, more) = self.pop();
            keys.push(self.heap.make_string(field.name.as_bytes()));
            values.push(value);
            size = size.saturating_add(more);
        }
        let map = self.heap.make_map(&keys, &values);
        self.push(map, size);
    }

    /// The name of an operation or a field of one.
    fn name(&mut self, byte: u8) {
        let op = OpCode::ALL[usize::from(byte) % OpCode::ALL.len()];
        let field = op.definition().fields_2.first().map(|field| field.name);
        let name = match byte < 128 {
            true => op.name(),
            false => field.unwrap_or("op"),
        };
        self.string(name.as_bytes());
    }

    fn word(&mut self, place: usize) {
        self.string(WORDS[place % WORDS.len()].as_bytes());
    }

    fn string(&mut self, bytes: &[u8]) {
        let string = self.heap.make_string(bytes);
        self.push(string, 1);
    }

    fn small(&mut self, value: i64) {
        let number = self.heap.make_number(Number::Int(value));
        self.push(number.expect("an integer"), 1);
    }

    fn float(&mut self, value: f64) {
        let number = self.heap.make_number(Number::Float(value));
        self.push(number.expect("a finite float"), 1);
    }

    /// 2^63 and similar numbers.
    fn large(&mut self, power: usize) {
        let digits = format!("9223372036854775808{}", "0".repeat(power * 8));
        let number = self
            .heap
            .make_number(Number::from_digits(digits.as_bytes()));
        self.push(number.expect("an integer"), 4);
    }

    fn atom(&mut self, place: usize) {
        const ATOMS: &[&str] = &["nil", "true", "false", "ok", "__struct__", "op", "a"];
        let atom = self.heap.atom(ATOMS[place % ATOMS.len()]);
        self.push(atom, 1);
    }

    fn opaque(&mut self, number: usize) {
        let kinds = [Opaque::Reference, Opaque::Fun, Opaque::Port, Opaque::Pid];
        let opaque = self.heap.opaque(kinds[number % 4], number as u64);
        self.push(opaque, 1);
    }

    fn list(&mut self, count: usize) {
        let (items, size) = self.pops(count);
        let list = self.heap.make_list(&items);
        self.push(list, size.saturating_add(1));
    }

    fn map(&mut self, count: usize) {
        let (keys, size) = self.pops(count);
        let (values, more) = self.pops(count);
        let map = self.heap.make_map(&keys, &values);
        self.push(map, sum([size, more, 1]));
    }

    fn tuple(&mut self, count: usize) {
        let (elements, size) = self.pops(count);
        let tuple = self.heap.tuple(&elements);
        self.push(tuple, size.saturating_add(1));
    }

    fn improper(&mut self) {
        let ((head, size), (tail, more)) = (self.pop(), self.pop());
        let cell = self.heap.cons(head, tail);
        self.push(cell, size.saturating_add(more));
    }

    /// Pushes a term of the stack again, so that it is shared.
    fn again(&mut self, depth: usize) {
        let place = self.terms.len().checked_sub(depth + 1);
        if let Some(&(term, size)) = place.and_then(|place| self.terms.get(place)) {
            self.push(term, size);
        }
    }
}

/// A size that is too large for its type counts as the largest one.
fn sum(sizes: impl IntoIterator<Item = usize>) -> usize {
    sizes.into_iter().fold(0, usize::saturating_add)
}
