//! Converts a table of types to type terms.

use super::type_atoms::TypeAtoms;
use crate::raw::{Raw, Terms};
use ptc_term::names::is_firewalled;
use ptc_type::{Fields, Read, Type, TypeId, Types};

/// The type terms of a table, made in its order: parts first.
pub struct Writer<'a, 'c> {
    terms: Terms<'a>,
    type_atoms: &'c TypeAtoms<'a>,
    made: Vec<Raw<'a>>,
    fields: Vec<Raw<'a>>,
}

impl<'a, 'c> Writer<'a, 'c> {
    pub fn new(terms: Terms<'a>, type_atoms: &'c TypeAtoms<'a>) -> Self {
        Writer {
            terms,
            type_atoms,
            made: Vec::with_capacity(16),
            fields: Vec::with_capacity(16),
        }
    }

    /// Makes the terms of all types of a text.
    pub fn write(&mut self, types: &Types) {
        let terms = self.terms;
        let name = |index: usize| terms.make_binary(types.field(index).name);
        self.write_with(types, &[], |index| Some(name(index)));
    }

    /// Makes the terms of all types without their firewalled fields; unknown types stay unchanged.
    pub fn write_public(&mut self, read: &Read<Raw<'a>>) {
        self.write_with(&read.types, &read.unknown, |index| public_name(read, index));
    }

    fn write_with(
        &mut self,
        types: &Types,
        unknown: &[Raw<'a>],
        mut name: impl FnMut(usize) -> Option<Raw<'a>>,
    ) {
        for of in types.all() {
            let term = match *of {
                Type::Scalar(scalar) => self.type_atoms.scalar_atom(scalar),
                Type::Optional(inner) => {
                    self.pair(self.type_atoms.optional, self.made[inner.index()])
                }
                Type::List(inner) => self.pair(self.type_atoms.list, self.made[inner.index()]),
                Type::Map { fields, closed } => {
                    let tag = match closed {
                        true => self.type_atoms.closed_map,
                        false => self.type_atoms.map(),
                    };
                    let fields = self.fields(types, fields, &mut name);
                    self.pair(tag, fields)
                }
                Type::Unknown(number) => unknown[number as usize],
            };
            self.made.push(term);
        }
    }

    /// The term of a type.
    pub fn term(&self, id: TypeId) -> Raw<'a> {
        self.made[id.index()]
    }

    /// Parameters or fields as a list of pairs; those without a name are omitted.
    pub fn fields(
        &mut self,
        types: &Types,
        fields: Fields,
        name: &mut impl FnMut(usize) -> Option<Raw<'a>>,
    ) -> Raw<'a> {
        self.fields.clear();
        for index in fields.range() {
            if let Some(name) = name(index) {
                let pair = self.pair(name, self.made[types.field(index).holds.index()]);
                self.fields.push(pair);
            }
        }
        self.terms.make_list(&self.fields)
    }

    fn pair(&self, first: Raw<'a>, second: Raw<'a>) -> Raw<'a> {
        self.terms.make_tuple(&[first, second])
    }
}

fn public_name<'a>(read: &Read<Raw<'a>>, index: usize) -> Option<Raw<'a>> {
    (!is_firewalled(read.types.field(index).name)).then(|| read.names[index])
}
