//! The wanted types of an answer, in the form that the search needs: optional types are resolved, and
//! the fields of a map are indexed by name and by spelling.

use super::cut::AtEnd;
use super::scan::{quote, skip_all_blanks};
pub use super::shape::{Declared, Found, Shape, Ty};
use crate::signature::{Fields, Scalar, Type, TypeId, Types};

/// Any value: the type of everything when no signature is known.
pub const ANY: Ty = 0;

/// A type, and whether it includes `null`.
#[derive(Debug, Clone, Copy)]
pub struct Want {
    /// The type without its question mark.
    pub of: Of,
    /// Whether `null` is allowed.
    pub nullable: bool,
    /// Whether a field of this type may be missing.
    pub optional: bool,
}

/// The types a value can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Of {
    /// Anything.
    Any,
    /// A string.
    String,
    /// An integer.
    Int,
    /// A number.
    Float,
    /// `true` or `false`.
    Bool,
    /// A string that can be the name of a keyword, a boolean or `null`.
    Keyword,
    /// Any object.
    AnyMap,
    /// A list, with the type of its elements.
    List(Ty),
    /// An object with fields, by its index in the table of maps.
    Map(u32),
}

/// All types of one answer.
#[derive(Debug)]
pub struct Wanted {
    wants: Vec<Want>,
    shapes: Vec<Shape>,
    root: Ty,
    hyphens: bool,
    at_end: AtEnd,
}

impl Default for Wanted {
    fn default() -> Self {
        Wanted::anything()
    }
}

impl Wanted {
    /// Any value.
    pub fn anything() -> Self {
        Wanted {
            wants: vec![Want {
                of: Of::Any,
                nullable: true,
                optional: true,
            }],
            shapes: Vec::new(),
            root: ANY,
            hyphens: false,
            at_end: AtEnd::CloseAll,
        }
    }

    /// The type at `root`. `wrapped`: a list may also be under the key `items` in an object.
    pub fn new(types: &Types, root: TypeId, wrapped: bool) -> Self {
        let mut wanted = Wanted::anything();
        for of in types.all() {
            wanted.add(types, *of);
        }
        wanted.root = root.0 + 1;
        if let (Of::List(_), true) = (wanted.want(wanted.root).of, wrapped) {
            wanted.wrap();
        }
        wanted
    }

    fn add(&mut self, types: &Types, of: Type) {
        let scalar = |of| Want {
            of,
            nullable: matches!(of, Of::Any | Of::Keyword),
            optional: false,
        };
        let want = match of {
            Type::Scalar(kind) => scalar(match kind {
                Scalar::String | Scalar::DateTime => Of::String,
                Scalar::Int => Of::Int,
                Scalar::Float => Of::Float,
                Scalar::Bool => Of::Bool,
                Scalar::Keyword => Of::Keyword,
                Scalar::Any => Of::Any,
                Scalar::Map => Of::AnyMap,
            }),
            Type::Unknown(_) => scalar(Of::Any),
            Type::Optional(inner) => Want {
                nullable: true,
                optional: true,
                ..self.want(inner.0 + 1)
            },
            Type::List(inner) => scalar(Of::List(inner.0 + 1)),
            Type::Map { fields, closed } => scalar(self.shape_of(types, fields, closed)),
        };
        self.wants.push(want);
    }

    fn shape_of(&mut self, types: &Types, fields: Fields, closed: bool) -> Of {
        let fields = types.fields(fields);
        let fields = fields.map(|field| Declared {
            name: field.name.into(),
            ty: field.holds.0 + 1,
        });
        self.add_shape(fields.collect(), closed)
    }

    fn add_shape(&mut self, fields: Vec<Declared>, closed: bool) -> Of {
        let needed = fields.iter().map(|field| !self.want(field.ty).optional);
        let needed = needed.collect();
        let shape = Shape::new(fields, needed, closed);
        self.shapes.push(shape);
        Of::Map(self.shapes.len() as u32 - 1)
    }

    /// Adds the type of an object around the list.
    fn wrap(&mut self) {
        let field = Declared {
            name: Box::from(*b"items"),
            ty: self.root,
        };
        let of = self.add_shape(vec![field], false);
        self.wants.push(Want {
            of,
            nullable: false,
            optional: false,
        });
    }

    /// Accepts keys with hyphens for underscores without a repair.
    pub fn allow_hyphens(&mut self) {
        self.hyphens = true;
    }

    /// Sets what is done with a text that ends before the answer is complete.
    pub fn set_at_end(&mut self, at_end: AtEnd) {
        self.at_end = at_end;
    }

    /// Returns whether the search refuses texts that were cut off.
    pub fn refuses_cut(&self) -> bool {
        self.at_end != AtEnd::CloseAll
    }

    /// Returns whether an object may be closed where the text ends: nothing can be missing.
    pub fn may_close(&self, ty: Ty, seen: u64) -> bool {
        match (self.at_end, self.want(ty).of) {
            (AtEnd::CloseNothing, _) => false,
            (_, Of::Map(shape)) => self.shape(shape).all.is_some_and(|all| seen & all == all),
            _ => self.is_anything(),
        }
    }

    /// Returns whether a key that names a field is spelled correctly.
    #[inline]
    pub fn is_right(&self, shape: &Shape, field: usize, key: &[u8]) -> bool {
        self.hyphens || *shape.fields[field].name == *key || shape.has_name(key)
    }

    /// Returns the type of the whole value.
    pub fn root(&self) -> Ty {
        self.root
    }

    /// Returns the type of an object that wraps the whole value, if that is allowed.
    pub fn wrapper(&self) -> Option<Ty> {
        let last = self.wants.len() as Ty - 1;
        let is_list = matches!(self.want(self.root).of, Of::List(_));
        let wraps = |shape: &Shape| {
            shape
                .fields
                .first()
                .is_some_and(|field| field.ty == self.root)
        };
        let added = matches!(self.want(last).of, Of::Map(shape) if wraps(self.shape(shape)));
        (is_list && added && last > self.root).then_some(last)
    }

    /// Returns the type of the object at an offset, if it wraps the whole value.
    pub fn wrapper_at(&self, text: &[u8], at: usize) -> Option<Ty> {
        self.wrapper().filter(|_| {
            let key = skip_all_blanks(text, at + 1);
            let key = key + quote(text, key).map_or(0, |(_, length)| length);
            text.get(at) == Some(&b'{') && text[key.min(text.len())..].starts_with(b"items")
        })
    }

    /// Returns the type of the value that begins at an offset: of an element, if the brackets around
    /// the list are missing.
    pub fn root_at(&self, text: &[u8], at: usize) -> Ty {
        let list = match self.want(self.root).of {
            Of::List(holds) if text.get(at) == Some(&b'{') => Some(holds),
            _ => None,
        };
        let wrapper = self.wrapper_at(text, at);
        wrapper.or(list).unwrap_or(self.root)
    }

    /// Returns a type by its index.
    #[inline]
    pub fn want(&self, ty: Ty) -> Want {
        self.wants[ty as usize]
    }

    /// Returns the fields of a map.
    #[inline]
    pub fn shape(&self, map: u32) -> &Shape {
        &self.shapes[map as usize]
    }

    /// Returns whether any value is of the type.
    pub fn is_anything(&self) -> bool {
        self.want(self.root).of == Of::Any
    }
}

/// Returns whether a name is valid for a keyword, by the rules of validation.
pub fn is_keyword(name: &[u8]) -> bool {
    let allowed = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-*<=>?!_".contains(byte);
    !name.is_empty() && name.iter().all(allowed)
}
