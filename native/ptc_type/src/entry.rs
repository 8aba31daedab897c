//! A type as it stands in a table: its kind, and where its parts are.

use super::scalar::Scalar;

/// Index in a table of [`Types`](super::types::Types).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TypeId(pub u32);

impl TypeId {
    /// The index as a `usize`.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A range of consecutive fields in a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Fields {
    /// The first one.
    pub start: u32,
    /// Number of fields.
    pub count: u32,
}

impl Fields {
    /// Returns their indices.
    #[inline]
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..(self.start + self.count) as usize
    }

    /// Returns the bit of a field in a set of the first 64 fields; 0 for later ones.
    #[inline]
    pub fn bit(self, field: usize) -> u64 {
        1_u64
            .checked_shl((field - self.start as usize) as u32)
            .unwrap_or(0)
    }
}

/// A type; its parts precede it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    /// A type without parts.
    Scalar(Scalar),
    /// `t?`
    Optional(TypeId),
    /// `[t]`
    List(TypeId),
    /// `{a t, …}`
    Map {
        /// The declared fields, in order, duplicates included.
        fields: Fields,
        /// Whether other keys are refused. The grammar has no text for it.
        closed: bool,
    },
    /// A map from any texts to values of a type.
    MapOf(TypeId),
    /// One of several types, which have this number: see [`Types::union`](super::types::Types::union).
    OneOf(u32),
    /// The type of this name, by the number of its definition: see [`Types::defined`](super::types::Types::defined).
    Ref(u32),
    /// A type around which names are defined, with their number: see [`Types::group`](super::types::Types::group).
    Defs(TypeId, u32),
    /// A type with rules, which have this number: see [`Types::constraints`](super::types::Types::constraints). The type is not optional.
    Where(TypeId, u32),
    /// A term that is not a type; the number is assigned by its reader.
    Unknown(u32),
}

/// One of several types.
#[derive(Debug, Clone)]
pub struct Union {
    /// The types, in order.
    pub types: Vec<TypeId>,
    /// The field of a map that tells which type it is.
    pub discriminator: Option<Box<[u8]>>,
    /// The number of their list among the rules.
    pub rules: u32,
}

/// A field of a map, or a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field<'t> {
    /// The declared name.
    pub name: &'t [u8],
    /// The type of its value.
    pub holds: TypeId,
}
