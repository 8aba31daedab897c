//! JSON Schemas of types, as terms. Each type is converted once: parts that are shared stay shared.

use crate::read::Read;
use crate::{Fields, Scalar, Type, TypeId};
use ptc_term::heap::Heap;
use std::collections::HashMap;

/// The strings of a schema.
struct Strings<T> {
    kind: T,
    object: T,
    array: T,
    items: T,
    properties: T,
    required: T,
    additional: T,
}

/// Stands for the number of an unknown type where there is none, but a type that has more to say than its kind.
const RULED: u32 = u32::MAX;

/// Returns the number of an unknown type, or `RULED`.
#[cold]
fn unknown<T>(read: &Read<T>) -> u32 {
    let number = |of: &Type| match of {
        Type::Unknown(number) => Some(*number),
        _ => None,
    };
    read.types.all().iter().find_map(number).unwrap_or(RULED)
}

/// Makes the schema of a type that was read with its names. Returns the number of an unknown type in it, if there is
/// one, and the greatest number if the type has rules or names, whose schemas are not made here.
pub fn schema<H: Heap>(heap: &mut H, read: &Read<H::Term>, id: TypeId) -> Result<H::Term, u32> {
    let mut string = |text: &str| heap.make_string(text.as_bytes());
    let strings = Strings {
        kind: string("type"),
        object: string("object"),
        array: string("array"),
        items: string("items"),
        properties: string("properties"),
        required: string("required"),
        additional: string("additionalProperties"),
    };
    let scalars = Scalar::ALL.map(|scalar| {
        let name = match scalar {
            Scalar::String | Scalar::Keyword | Scalar::DateTime => "string",
            // The schemas of these have more than the kind.
            Scalar::Date | Scalar::Decimal => "string",
            Scalar::Int => "integer",
            Scalar::Float | Scalar::Number => "number",
            Scalar::Bool => "boolean",
            Scalar::Any | Scalar::Map => "object",
        };
        let name = heap.make_string(name.as_bytes());
        heap.make_map(&[strings.kind], &[name])
    });
    let mut made: Vec<H::Term> = Vec::with_capacity(read.types.all().len());
    for of in read.types.all() {
        let schema = match *of {
            Type::Scalar(Scalar::Date | Scalar::Decimal)
            | Type::Where(..)
            | Type::Ref(_)
            | Type::Defs(..) => return Err(unknown(read)),
            Type::Scalar(scalar) => scalars[scalar as usize],
            Type::Optional(inner) => made[inner.index()],
            Type::List(inner) => heap.make_map(
                &[strings.kind, strings.items],
                &[strings.array, made[inner.index()]],
            ),
            Type::OneOf(number) if read.types.union(number).types.is_empty() => {
                return Err(unknown(read))
            }
            Type::OneOf(number) => {
                let types = read.types.union(number).types.iter();
                let schemas: Vec<_> = types.map(|id| made[id.index()]).collect();
                let (key, schemas) = (heap.make_string(b"anyOf"), heap.make_list(&schemas));
                heap.make_map(&[key], &[schemas])
            }
            Type::MapOf(holds) => heap.make_map(
                &[strings.kind, strings.additional],
                &[strings.object, made[holds.index()]],
            ),
            Type::Map { fields, .. } => object(heap, read, fields, &made, &strings),
            Type::Unknown(number) => return Err(number),
        };
        made.push(schema);
    }
    Ok(made[id.index()])
}

fn object<H: Heap>(
    heap: &mut H,
    read: &Read<H::Term>,
    fields: Fields,
    made: &[H::Term],
    strings: &Strings<H::Term>,
) -> H::Term {
    let mut places: HashMap<&[u8], usize> = HashMap::new();
    let (mut names, mut schemas, mut required) = (Vec::new(), Vec::new(), Vec::new());
    for index in fields.range() {
        let field = read.types.field(index);
        let schema = made[field.holds.index()];
        let place = *places.entry(field.name).or_insert(names.len());
        if place == names.len() {
            names.push(read.names[index]);
            schemas.push(schema);
        }
        // Of equal names the last one counts.
        schemas[place] = schema;
        if !matches!(read.types.get(field.holds), Type::Optional(_)) {
            required.push(read.names[index]);
        }
    }
    let keys = [
        strings.kind,
        strings.properties,
        strings.required,
        strings.additional,
    ];
    let properties = heap.make_map(&names, &schemas);
    let values = [
        strings.object,
        properties,
        heap.make_list(&required),
        heap.boolean(false),
    ];
    heap.make_map(&keys, &values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;
    use crate::plain::heap_of_types;
    use crate::read::{read, ReadOptions};
    use crate::terms::TypeTerms;
    use crate::values::Values;
    use ptc_term::meter::{Limits, Meter, Pace};
    use ptc_term::plain::{PlainHeap, Term};

    fn term_of(heap: &mut PlainHeap, text: &str) -> Term {
        let signature = parse(text.as_bytes()).unwrap();
        let type_atoms = heap.type_atoms();
        TypeTerms::of(heap, &type_atoms, &signature.types).term(signature.returns)
    }

    fn made(heap: &mut PlainHeap, of: Term) -> Result<Term, u32> {
        let mut meter = Meter::whole(Limits::UNLIMITED, Pace::Quantum);
        let options = ReadOptions {
            names: true,
            ..ReadOptions::default()
        };
        let (read, id) = read(heap, of, options, &mut meter).unwrap();
        schema(heap, &read, id)
    }

    fn pairs(heap: &mut PlainHeap, pairs: &[(&str, Term)]) -> Term {
        let keys: Vec<Term> = (pairs
            .iter()
            .map(|(key, _)| heap.make_string(key.as_bytes())))
        .collect();
        let values: Vec<Term> = pairs.iter().map(|(_, value)| *value).collect();
        heap.make_map(&keys, &values)
    }

    #[test]
    fn an_object_has_its_properties_and_those_that_are_required() {
        let mut heap = heap_of_types();
        let of = term_of(&mut heap, "{a [:int], b :string?, c {d :any}}");
        let schema = made(&mut heap, of).unwrap();

        let mut string = |text: &str| heap.make_string(text.as_bytes());
        let [object, array, integer, text] =
            ["object", "array", "integer", "string"].map(&mut string);
        let [a, c, d] = ["a", "c", "d"].map(&mut string);
        let no = heap.boolean(false);
        let integer = pairs(&mut heap, &[("type", integer)]);
        let text = pairs(&mut heap, &[("type", text)]);
        let any = pairs(&mut heap, &[("type", object)]);
        let list = pairs(&mut heap, &[("type", array), ("items", integer)]);
        let mut object_of = |properties: &[(&str, Term)], required: &[Term]| {
            let properties = pairs(&mut heap, properties);
            let required = heap.make_list(required);
            let parts = [
                ("type", object),
                ("properties", properties),
                ("required", required),
                ("additionalProperties", no),
            ];
            pairs(&mut heap, &parts)
        };
        let inner = object_of(&[("d", any)], &[d]);
        let expected = object_of(&[("a", list), ("b", text), ("c", inner)], &[a, c]);
        assert!(heap.identical(schema, expected));
    }

    #[test]
    fn what_is_no_type_is_told_by_its_number_also_beside_rules() {
        let mut heap = heap_of_types();
        let wrong = heap.make_string(b"no type");
        assert_eq!(made(&mut heap, wrong).err(), Some(0));

        let date = heap.atom("date");
        assert_eq!(made(&mut heap, date).err(), Some(RULED));
        let map = heap.type_atoms().map();
        let (a, b) = (heap.make_string(b"a"), heap.make_string(b"b"));
        let fields = [heap.make_tuple(&[a, date]), heap.make_tuple(&[b, wrong])];
        let fields = heap.make_list(&fields);
        let of = heap.make_tuple(&[map, fields]);
        assert_eq!(made(&mut heap, of).err(), Some(0));
    }

    #[test]
    fn a_shared_type_has_one_schema() {
        let mut heap = heap_of_types();
        let atoms = heap.type_atoms();
        let mut of = atoms.scalars[Scalar::Int as usize];
        // The type has 2^20 parts; 64 of its types are read again and again, the others once.
        for _ in 0..20 {
            let name = heap.make_string(b"a");
            let other = heap.make_string(b"b");
            let fields = [heap.make_tuple(&[name, of]), heap.make_tuple(&[other, of])];
            let fields = heap.make_list(&fields);
            of = heap.make_tuple(&[atoms.map(), fields]);
        }
        let before = heap.words_built();
        assert!(made(&mut heap, of).is_ok());
        assert!(heap.words_built() - before < 20_000);
    }
}
