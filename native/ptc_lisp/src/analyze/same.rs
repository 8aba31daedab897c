//! Which forms are the same: by structure, maps and sets without an order, vectors like lists.

use super::Analyzer;
use crate::read::{Form, FormId, Items, SymbolId};
use std::collections::HashMap;

/// Up to this many forms are compared with each other.
const FEW: usize = 8;

/// A form without parts, for comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Atom<'t> {
    Nil,
    Bool(bool),
    Int(i64),
    Large(&'t num_bigint::BigInt),
    Float(u64),
    Infinity,
    NegativeInfinity,
    NaN,
    Text(&'t str),
    Keyword(SymbolId),
    Symbol(SymbolId),
    Quoted(SymbolId),
    History(u8),
}

/// A form whose parts are numbers of classes of equal forms.
#[derive(Debug, PartialEq, Eq, Hash)]
enum FormShape<'t> {
    Atom(Atom<'t>),
    List(Vec<u32>),
    Map(Vec<(u32, u32)>),
    Set(Vec<u32>),
}

/// The classes of equal forms.
#[derive(Default)]
struct Classes<'t> {
    known: HashMap<FormShape<'t>, u32>,
    count: u32,
}

impl Analyzer<'_> {
    /// Returns the first of the forms that is the same as one before it.
    pub(super) fn repeated(&self, forms: Vec<FormId>) -> Option<FormId> {
        if forms.len() < 2 {
            return None;
        }
        if forms.len() <= FEW {
            let atoms: Option<Vec<Atom>> = forms.iter().map(|form| self.atom_of(*form)).collect();
            if let Some(atoms) = atoms {
                let repeated = |index: &usize| atoms[..*index].contains(&atoms[*index]);
                return (1..atoms.len()).find(repeated).map(|index| forms[index]);
            }
        }
        let mut classes = Classes::default();
        let mut seen = std::collections::HashSet::new();
        forms
            .into_iter()
            .find(|form| !seen.insert(self.class(*form, &mut classes)))
    }

    /// Returns the class of a form. The reader has limited how deep forms are nested.
    fn class<'s>(&'s self, id: FormId, classes: &mut Classes<'s>) -> u32 {
        let shape = match self.forms.form(id) {
            Form::List(items) | Form::Vector(items) => {
                FormShape::List(self.classes(items, classes))
            }
            Form::Map(items) => {
                let all = self.classes(items, classes);
                let (pairs, _) = all.as_chunks::<2>();
                let mut pairs: Vec<_> = pairs.iter().map(|[key, value]| (*key, *value)).collect();
                pairs.sort_unstable();
                FormShape::Map(pairs)
            }
            Form::Set(items) => {
                let mut all = self.classes(items, classes);
                all.sort_unstable();
                FormShape::Set(all)
            }
            _ => match self.atom_of(id) {
                Some(atom) => FormShape::Atom(atom),
                // A regular expression or a function is the same as no other.
                None => {
                    classes.count += 1;
                    return classes.count;
                }
            },
        };
        let next = classes.count + 1;
        let class = *classes.known.entry(shape).or_insert(next);
        classes.count = classes.count.max(class);
        class
    }

    fn classes<'s>(&'s self, items: Items, classes: &mut Classes<'s>) -> Vec<u32> {
        let forms = self.forms.children(items).iter();
        forms.map(|form| self.class(*form, classes)).collect()
    }

    /// Returns a form that has no parts and can be compared.
    fn atom_of(&self, id: FormId) -> Option<Atom<'_>> {
        Some(match self.forms.form(id) {
            Form::Nil => Atom::Nil,
            Form::Bool(value) => Atom::Bool(value),
            Form::Int(int) => Atom::Int(int),
            Form::Large(index) => Atom::Large(&self.forms.large[index as usize]),
            // Both zeros are equal.
            Form::Float(float) => Atom::Float((float + 0.0).to_bits()),
            Form::Infinity => Atom::Infinity,
            Form::NegativeInfinity => Atom::NegativeInfinity,
            Form::NaN => Atom::NaN,
            Form::Text(index) => Atom::Text(&self.forms.texts[index as usize]),
            Form::Keyword(name) => Atom::Keyword(name),
            Form::Symbol(name) => Atom::Symbol(name),
            Form::Quoted(name) => Atom::Quoted(name),
            Form::History(number) => Atom::History(number),
            _ => return None,
        })
    }
}
