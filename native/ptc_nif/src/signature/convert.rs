//! Values to other types, as far as LLMs may be forgiven.

use super::accept::is_date_time;
use super::atom_text;
use super::kind::{kind, Kind};
use super::shape::Shapes;
use super::words::Words;
use crate::heap::Beam;
use crate::raw::{Raw, Terms};
use ptc_core::heap::Heap;
use ptc_core::number::Number;
use ptc_core::signature::{lenient, Fields, Scalar, TypeId, Types};

/// What became of a value.
pub enum Converted<'a> {
    /// It is right as it is.
    Same,
    /// Another value, without a word.
    Silent(Raw<'a>),
    /// Another value, with a warning.
    Warned(Raw<'a>),
    /// Only Elixir can tell: dates, and text that may be one.
    Ask,
    /// It cannot be coerced.
    Refused,
}

/// Whether structs pass as maps.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Structs {
    AreMaps,
    AreNoMaps,
}

/// What conversions need, and the warnings they left.
pub struct Converter<'a, 'c> {
    heap: Beam<'a>,
    words: &'c Words<'a>,
    structs: Structs,
    pub warnings: Vec<Raw<'a>>,
    /// `coerced keyword to string` and the like, made once.
    keyword_to_string: Option<Raw<'a>>,
    text: Vec<u8>,
}

impl<'a, 'c> Converter<'a, 'c> {
    pub fn new(terms: Terms<'a>, words: &'c Words<'a>, structs: Structs) -> Self {
        Converter {
            heap: Beam::new(terms.env, 0),
            words,
            structs,
            warnings: Vec::new(),
            keyword_to_string: None,
            text: Vec::new(),
        }
    }

    #[inline]
    pub fn convert(
        &mut self,
        types: &Types<'a>,
        shapes: &mut Shapes<'a>,
        (scalar, id): (Scalar, TypeId),
        value: Raw<'a>,
    ) -> Converted<'a> {
        let terms = self.heap.terms;
        let kind = kind(terms, value);
        let fits = match scalar {
            Scalar::Any => true,
            Scalar::String => kind == Kind::Bitstring && terms.is_binary(value),
            Scalar::Int => kind == Kind::Integer,
            Scalar::Float => kind == Kind::Float,
            Scalar::Bool => self.words.is_bool(value),
            Scalar::Keyword => kind == Kind::Atom,
            Scalar::Map => match shapes.open(types, id, Fields::default(), value) {
                Some(map) => self.structs == Structs::AreMaps || shapes.module(id, map).is_none(),
                None => return Converted::Refused,
            },
            Scalar::DateTime => kind == Kind::Map && is_date_time(terms, self.words, value),
        };
        match fits {
            true => Converted::Same,
            false => self.other(scalar, kind, value),
        }
    }

    fn other(&mut self, scalar: Scalar, kind: Kind, value: Raw<'a>) -> Converted<'a> {
        let terms = self.heap.terms;
        match (scalar, kind) {
            (Scalar::String, Kind::Atom) => self.name_of(value),
            (Scalar::String, Kind::Map) => {
                let module = terms.map_get(value, self.words.struct_key);
                match module.and_then(|module| self.words.module(terms, module)) {
                    Some(_) => Converted::Ask,
                    None => Converted::Refused,
                }
            }
            (Scalar::Float, Kind::Integer) => {
                let number = self
                    .heap
                    .number(value)
                    .and_then(|number| number.to_float().ok());
                let float = number.and_then(|value| terms.make_float(value));
                float.map_or(Converted::Refused, Converted::Silent)
            }
            (_, Kind::Bitstring) => match terms.bytes(value) {
                Some(text) if terms.is_binary(value) => self.text(scalar, text),
                _ => Converted::Refused,
            },
            _ => Converted::Refused,
        }
    }

    fn text(&mut self, scalar: Scalar, text: &[u8]) -> Converted<'a> {
        let terms = self.heap.terms;
        let (value, target) = match scalar {
            Scalar::Int => {
                let number = lenient::integer(text);
                (
                    number.and_then(|number| self.heap.make_number(number)),
                    "integer",
                )
            }
            Scalar::Float => {
                let float = lenient::float(text).map(Number::Float);
                (
                    float.and_then(|number| self.heap.make_number(number)),
                    "float",
                )
            }
            Scalar::Bool => {
                let value = match text {
                    b"true" => Some(self.words.yes),
                    b"false" => Some(self.words.no),
                    _ => None,
                };
                (value, "boolean")
            }
            Scalar::Keyword => (atom_text::existing(terms, text), "keyword"),
            Scalar::DateTime => return Converted::Ask,
            Scalar::String | Scalar::Any | Scalar::Map => return Converted::Refused,
        };
        let Some(value) = value else {
            return Converted::Refused;
        };
        self.text.clear();
        self.text.extend_from_slice(b"coerced string \"");
        self.text.extend_from_slice(text);
        self.text.extend_from_slice(b"\" to ");
        self.text.extend_from_slice(target.as_bytes());
        self.warnings.push(terms.make_binary(&self.text));
        Converted::Warned(value)
    }

    fn name_of(&mut self, atom: Raw<'a>) -> Converted<'a> {
        let terms = self.heap.terms;
        let warning = *self
            .keyword_to_string
            .get_or_insert_with(|| terms.make_binary(b"coerced keyword to string"));
        self.warnings.push(warning);
        Converted::Warned(atom_text::with_name(terms, atom, |name| {
            terms.make_binary(name)
        }))
    }
}
