//! Types as type terms.

use crate::read::{Read, TypeAtoms};
use crate::{Fields, Scalar, Type, TypeId, Types};
use ptc_term::class::Classed;
use ptc_term::names::is_firewalled;

/// The type terms of a table, made in its order: parts first.
#[derive(Debug)]
pub struct TypeTerms<T> {
    made: Vec<T>,
    /// The fields of the type that is being made.
    pairs: Vec<T>,
}

impl<T: Copy> TypeTerms<T> {
    /// Makes the terms of all types of a text.
    pub fn of<H: Classed<Term = T>>(heap: &mut H, atoms: &TypeAtoms<T>, types: &Types) -> Self {
        Self::make(heap, atoms, types, (&[], &[]), |heap, index| {
            Some(name(heap, types, index))
        })
    }

    /// Makes the terms of all types, read with their names, without the firewalled fields; unknown types stay
    /// unchanged.
    pub fn public<H: Classed<Term = T>>(
        heap: &mut H,
        atoms: &TypeAtoms<T>,
        read: &Read<T>,
    ) -> Self {
        let given = (&read.unknown[..], &read.rules[..]);
        Self::make(heap, atoms, &read.types, given, |_, index| {
            (!is_firewalled(read.types.field(index).name)).then(|| read.names[index])
        })
    }

    fn make<H: Classed<Term = T>>(
        heap: &mut H,
        atoms: &TypeAtoms<T>,
        types: &Types,
        (unknown, rules): (&[T], &[T]),
        name: impl Fn(&mut H, usize) -> Option<T>,
    ) -> Self {
        let mut terms = TypeTerms {
            made: Vec::with_capacity(types.all().len()),
            pairs: Vec::with_capacity(16),
        };
        for (index, of) in types.all().iter().enumerate() {
            let id = TypeId(index as u32);
            let term = match *of {
                Type::Scalar(scalar) if (scalar as usize) < Scalar::WORDS.len() => {
                    atoms.scalars[scalar as usize]
                }
                Type::Scalar(scalar) => heap.word(scalar),
                Type::Optional(inner) => heap.make_tuple(&[atoms.optional, terms.term(inner)]),
                Type::List(inner) => heap.make_tuple(&[atoms.list, terms.term(inner)]),
                Type::Map { fields, closed } => {
                    let tag = match closed {
                        true => atoms.closed_map,
                        false => atoms.map(),
                    };
                    let fields = terms.pairs(heap, types, fields, &name);
                    match types.module(id).filter(|_| types.has_structs()) {
                        Some(module) => {
                            let map = heap.make_tuple(&[atoms.map(), fields]);
                            let tag = word(heap, b"struct");
                            heap.make_tuple(&[tag, rules[module as usize], map])
                        }
                        None => heap.make_tuple(&[tag, fields]),
                    }
                }
                Type::OneOf(number) => {
                    let union = types.union(number);
                    let members: Vec<T> = union.types.iter().map(|id| terms.term(*id)).collect();
                    let members = heap.make_list(&members);
                    let field = match &union.discriminator {
                        Some(field) => heap.make_string(field),
                        None => heap.nil(),
                    };
                    let tag = word(heap, b"one_of");
                    heap.make_tuple(&[tag, members, field])
                }
                Type::Ref(name) => {
                    let tag = word(heap, b"ref");
                    heap.make_tuple(&[tag, rules[types.name_of(name) as usize]])
                }
                Type::Defs(inner, group) => {
                    let names = types.group(group);
                    let keys: Vec<T> = names
                        .clone()
                        .map(|name| rules[types.name_of(name) as usize])
                        .collect();
                    let values: Vec<T> =
                        names.map(|name| terms.term(types.defined(name))).collect();
                    let names = heap.make_map(&keys, &values);
                    let tag = word(heap, b"defs");
                    heap.make_tuple(&[tag, names, terms.term(inner)])
                }
                Type::MapOf(holds) => {
                    let tag = word(heap, b"map_of");
                    heap.make_tuple(&[tag, terms.term(holds)])
                }
                Type::Where(inner, number) => {
                    let tag = word(heap, b"where");
                    heap.make_tuple(&[tag, terms.term(inner), rules[number as usize]])
                }
                Type::Unknown(number) => unknown[number as usize],
            };
            terms.made.push(term);
        }
        terms
    }

    /// Returns the term of a type.
    pub fn term(&self, id: TypeId) -> T {
        self.made[id.index()]
    }

    /// Makes the parameters of a signature: a list of pairs.
    pub fn params<H: Classed<Term = T>>(
        &mut self,
        heap: &mut H,
        types: &Types,
        params: Fields,
    ) -> T {
        self.pairs(heap, types, params, &|heap: &mut H, index| {
            Some(name(heap, types, index))
        })
    }

    /// Makes a list of pairs; those without a name are omitted.
    fn pairs<H: Classed<Term = T>>(
        &mut self,
        heap: &mut H,
        types: &Types,
        fields: Fields,
        name: &impl Fn(&mut H, usize) -> Option<T>,
    ) -> T {
        self.pairs.clear();
        for index in fields.range() {
            if let Some(name) = name(heap, index) {
                let holds = self.term(types.field(index).holds);
                self.pairs.push(heap.make_tuple(&[name, holds]));
            }
        }
        heap.make_list(&self.pairs)
    }
}

fn name<H: Classed>(heap: &mut H, types: &Types, index: usize) -> H::Term {
    heap.make_string(types.field(index).name)
}

/// Returns the atom of a tag, which exists, since types are written with it.
fn word<H: Classed>(heap: &H, name: &[u8]) -> H::Term {
    heap.existing_atom(name).unwrap_or(heap.nil())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plain::heap_of_types;
    use crate::read::{read, ReadOptions};
    use crate::values::Values;
    use crate::{parse, render_type, KeyStyle};
    use ptc_term::heap::Heap;
    use ptc_term::meter::{Limits, Meter, Pace};
    use ptc_term::plain::{PlainHeap, Term};

    const TEXTS: [&str; 4] = [
        ":int",
        "{a [:string?], _b {c :keyword}, d {_e :any, f :map?}}",
        "[{_a :int}]?",
        "{}",
    ];

    fn terms_of(heap: &mut PlainHeap, text: &str) -> Term {
        let signature = parse(text.as_bytes()).unwrap();
        let atoms = heap.type_atoms();
        TypeTerms::of(heap, &atoms, &signature.types).term(signature.returns)
    }

    fn read_of(heap: &PlainHeap, of: Term) -> (Read<Term>, TypeId) {
        let mut meter = Meter::whole(Limits::UNLIMITED, Pace::Quantum);
        let options = ReadOptions {
            names: true,
            ..ReadOptions::default()
        };
        read(heap, of, options, &mut meter).unwrap()
    }

    fn text_of(heap: &PlainHeap, of: Term) -> String {
        let (read, id) = read_of(heap, of);
        let text = render_type(&read.types, id, KeyStyle::Declared, usize::MAX).unwrap();
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn terms_read_back_are_the_types_they_were_made_of() {
        let mut heap = heap_of_types();
        for text in TEXTS {
            let of = terms_of(&mut heap, text);
            assert_eq!(text_of(&heap, of), text);
        }
    }

    #[test]
    fn public_types_have_no_firewalled_field_at_any_depth() {
        let mut heap = heap_of_types();
        let atoms = heap.type_atoms();
        for (text, public) in
            TEXTS
                .iter()
                .zip([":int", "{a [:string?], d {f :map?}}", "[{}]?", "{}"])
        {
            let of = terms_of(&mut heap, text);
            let (read, id) = read_of(&heap, of);
            let of = TypeTerms::public(&mut heap, &atoms, &read).term(id);
            assert_eq!(text_of(&heap, of), public);
        }
    }

    #[test]
    fn what_is_no_type_stays_as_it_is() {
        let mut heap = heap_of_types();
        let atoms = heap.type_atoms();
        let wrong = heap.make_string(b"no type");
        let of = heap.make_tuple(&[atoms.list, wrong]);
        let (read, id) = read_of(&heap, of);
        let public = TypeTerms::public(&mut heap, &atoms, &read).term(id);
        assert!(heap.identical(public, of));
    }
}
