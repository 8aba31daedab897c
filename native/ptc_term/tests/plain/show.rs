//! Terms as text, similar to `inspect/1`.

use super::{Opaque, PlainHeap, Term, Value};
use crate::number::Number;

/// Shared parts are written at every reference, which can make the text extremely long.
const LONG: usize = 1_000_000;

/// A remaining step of the writer.
enum Piece {
    Term(Term),
    /// The rest of a list after the items that were written.
    Rest(Term),
    Text(&'static str),
}

impl PlainHeap {
    /// Returns the term as text, truncated if it is very long:
    /// `[1, 1.0, "a", <<255>>, nil, {:ok, %{"k" => []}}, [1 | 2], #Pid<1>]`.
    pub fn show(&self, term: Term) -> String {
        let mut text = String::new();
        let mut todo = vec![Piece::Term(term)];
        while let Some(piece) = todo.pop() {
            if text.len() > LONG {
                text.push('…');
                break;
            }
            match piece {
                Piece::Text(part) => text.push_str(part),
                Piece::Term(term) => self.show_one(term, &mut text, &mut todo),
                Piece::Rest(tail) => match self.value(tail) {
                    Value::EmptyList => text.push(']'),
                    Value::Cons(head, tail) => {
                        text.push_str(", ");
                        todo.extend([Piece::Rest(*tail), Piece::Term(*head)]);
                    }
                    _ => {
                        text.push_str(" | ");
                        todo.extend([Piece::Text("]"), Piece::Term(tail)]);
                    }
                },
            }
        }
        text
    }

    /// Writes the beginning of a term; pushes the rest to `todo`, last piece first.
    fn show_one(&self, term: Term, text: &mut String, todo: &mut Vec<Piece>) {
        match self.value(term) {
            Value::Atom(name) if matches!(&**name, "nil" | "true" | "false") => text.push_str(name),
            Value::Atom(name) => text.push_str(&format!(":{name}")),
            Value::Number(Number::Int(value)) => text.push_str(&value.to_string()),
            Value::Number(Number::Big(value)) => text.push_str(&value.to_string()),
            Value::Number(Number::Float(value)) => text.push_str(&format!("{value:?}")),
            Value::Binary(bytes) => text.push_str(&match std::str::from_utf8(bytes) {
                Ok(string) => format!("{string:?}"),
                Err(_) => format!("<<{}>>", listed(bytes)),
            }),
            Value::EmptyList => text.push_str("[]"),
            Value::Cons(head, tail) => {
                text.push('[');
                todo.extend([Piece::Rest(*tail), Piece::Term(*head)]);
            }
            Value::Tuple(elements) => {
                text.push('{');
                todo.push(Piece::Text("}"));
                for (index, element) in elements.iter().enumerate().rev() {
                    todo.push(Piece::Term(*element));
                    todo.extend((index > 0).then_some(Piece::Text(", ")));
                }
            }
            Value::Map(entries) => {
                text.push_str("%{");
                todo.push(Piece::Text("}"));
                for (index, (key, value)) in entries.iter().enumerate().rev() {
                    todo.extend([Piece::Term(*value), Piece::Text(" => "), Piece::Term(*key)]);
                    todo.extend((index > 0).then_some(Piece::Text(", ")));
                }
            }
            Value::Opaque(kind, number) => text.push_str(&shown_opaque(*kind, *number)),
        }
    }

    /// Returns [`PlainHeap::show`] of each term.
    pub fn show_all(&self, terms: &[Term]) -> Vec<String> {
        terms.iter().map(|term| self.show(*term)).collect()
    }
}

fn listed(bytes: &[u8]) -> String {
    let numbers: Vec<_> = bytes.iter().map(u8::to_string).collect();
    numbers.join(", ")
}

fn shown_opaque(kind: Opaque, number: u64) -> String {
    format!("#{kind:?}<{number}>")
}
