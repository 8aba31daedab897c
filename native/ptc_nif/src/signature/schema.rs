//! Converts types to JSON Schema, each type once: shared parts stay shared.

use crate::atoms;
use crate::raw::{Raw, Terms};
use ptc_type::{Fields, Read, Scalar, Type, TypeId};
use rustler::Encoder;
use std::collections::HashMap;

/// The strings of a schema.
struct Strings<'a> {
    kind: Raw<'a>,
    object: Raw<'a>,
    items: Raw<'a>,
    properties: Raw<'a>,
    required: Raw<'a>,
    additional: Raw<'a>,
}

/// The schema of a type, or the number of an unknown type in it.
pub fn schema<'a>(terms: Terms<'a>, read: &Read<Raw<'a>>, id: TypeId) -> Result<Raw<'a>, u32> {
    let string = |text: &str| terms.make_binary(text.as_bytes());
    let strings = Strings {
        kind: string("type"),
        object: string("object"),
        items: string("items"),
        properties: string("properties"),
        required: string("required"),
        additional: string("additionalProperties"),
    };
    let array = string("array");
    let map = |keys: &[Raw<'a>], values: &[Raw<'a>]| {
        terms.make_map(keys, values).unwrap_or(strings.object)
    };
    let scalars = Scalar::ALL.map(|scalar| {
        let name = match scalar {
            Scalar::String | Scalar::Keyword | Scalar::DateTime => "string",
            Scalar::Int => "integer",
            Scalar::Float => "number",
            Scalar::Bool => "boolean",
            Scalar::Any | Scalar::Map => "object",
        };
        map(&[strings.kind], &[string(name)])
    });
    let mut made: Vec<Raw<'a>> = Vec::with_capacity(read.types.all().len());
    for of in read.types.all() {
        let schema = match *of {
            Type::Scalar(scalar) => scalars[scalar as usize],
            Type::Optional(inner) => made[inner.index()],
            Type::List(inner) => map(
                &[strings.kind, strings.items],
                &[array, made[inner.index()]],
            ),
            Type::Map { fields, .. } => object(terms, read, fields, &made, &strings),
            Type::Unknown(number) => return Err(number),
        };
        made.push(schema);
    }
    Ok(made[id.index()])
}

fn object<'a>(
    terms: Terms<'a>,
    read: &Read<Raw<'a>>,
    fields: Fields,
    made: &[Raw<'a>],
    strings: &Strings<'a>,
) -> Raw<'a> {
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
        schemas[place] = schema;
        if !matches!(read.types.get(field.holds), Type::Optional(_)) {
            required.push(read.names[index]);
        }
    }
    let no = Raw::from(atoms::false_().encode(terms.env));
    let properties = terms.make_map(&names, &schemas).unwrap_or(no);
    let keys = [
        strings.kind,
        strings.properties,
        strings.required,
        strings.additional,
    ];
    let values = [strings.object, properties, terms.make_list(&required), no];
    terms.make_map(&keys, &values).unwrap_or(no)
}
