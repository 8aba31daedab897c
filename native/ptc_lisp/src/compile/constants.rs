//! The constants of a program: each stands once.

use crate::ast::Literal;
use crate::consts::{Const, FIRST_OWN};
use ptc_vm::program::ConstId;
use std::collections::HashMap;

/// The constants so far.
#[derive(Default)]
pub(super) struct Constants {
    pub all: Vec<Const>,
    known: HashMap<String, ConstId>,
    keys: HashMap<String, ConstId>,
}

impl Constants {
    /// Adds a constant.
    pub fn add(&mut self, constant: Const) -> ConstId {
        self.all.push(constant);
        FIRST_OWN + self.all.len() as ConstId - 1
    }

    /// Returns the constant of a literal.
    pub fn literal(&mut self, literal: &Literal) -> ConstId {
        // Two literals are one constant if their texts are: numbers of different kinds differ.
        let text = match literal {
            Literal::Str(text) => format!("s{text}"),
            Literal::Keyword(name) => format!("k{name}"),
            Literal::Int(value) => format!("i{value}"),
            Literal::Float(value) => format!("f{}", value.to_bits()),
            other => format!("{other:?}"),
        };
        if let Some(id) = self.known.get(&text) {
            return *id;
        }
        let id = self.add(Const::Literal(literal.clone()));
        self.known.insert(text, id);
        id
    }

    /// Returns the constants of a key that is looked up flexibly, see [`crate::look`].
    pub fn key(&mut self, literal: &Literal) -> ConstId {
        let (kind, name) = match literal {
            Literal::Keyword(name) => ('k', name.clone()),
            Literal::Str(name) => ('s', name.clone()),
            other => ('o', format!("{other:?}")),
        };
        let text = format!("{kind}{name}");
        if let Some(id) = self.keys.get(&text) {
            return *id;
        }
        let id = self.add(Const::Literal(literal.clone()));
        self.add(Const::text(name.clone()));
        self.add(Const::KeywordStruct(name.clone()));
        self.add(match name.contains('-') {
            true => Const::text(name.replace('-', "_")),
            false => Const::Literal(Literal::Nil),
        });
        self.keys.insert(text, id);
        id
    }

    /// Returns the constant of a text.
    pub fn text(&mut self, text: &str) -> ConstId {
        self.literal(&Literal::Str(text.to_owned()))
    }
}
