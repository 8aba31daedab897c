//! The table of types of a signature. Parts of a type precede it, so tables are built, read and walked
//! without recursion, however deep a type nests.

/// Index in a table of [`Types`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TypeId(pub u32);

impl TypeId {
    /// The index as a `usize`.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Types without parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scalar {
    /// `:string`
    String,
    /// `:int`
    Int,
    /// `:float`
    Float,
    /// `:bool`, also written `:boolean`
    Bool,
    /// `:keyword`
    Keyword,
    /// `:any`
    Any,
    /// `:map`
    Map,
    /// `:datetime`
    DateTime,
}

impl Scalar {
    /// All scalars, in the order of their numbers.
    pub const ALL: [Scalar; 8] = [
        Scalar::String,
        Scalar::Int,
        Scalar::Float,
        Scalar::Bool,
        Scalar::Keyword,
        Scalar::Any,
        Scalar::Map,
        Scalar::DateTime,
    ];

    /// Returns the type word without its colon.
    pub fn name(self) -> &'static str {
        match self {
            Scalar::String => "string",
            Scalar::Int => "int",
            Scalar::Float => "float",
            Scalar::Bool => "bool",
            Scalar::Keyword => "keyword",
            Scalar::Any => "any",
            Scalar::Map => "map",
            Scalar::DateTime => "datetime",
        }
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
    /// A term that is not a type; the number is assigned by its reader.
    Unknown(u32),
}

/// A field of a map, or a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field<'t> {
    /// The declared name.
    pub name: &'t [u8],
    /// The type of its value.
    pub holds: TypeId,
}

/// A table of types.
#[derive(Debug, Clone, Default)]
pub struct Types<'t> {
    types: Vec<Type>,
    fields: Vec<Field<'t>>,
}

impl<'t> Types<'t> {
    /// Creates an empty table with capacity for a small signature.
    pub fn new() -> Self {
        Types {
            types: Vec::with_capacity(16),
            fields: Vec::with_capacity(16),
        }
    }

    /// Adds a type whose parts were already added.
    pub fn add(&mut self, of: Type) -> TypeId {
        self.types.push(of);
        TypeId(self.types.len() as u32 - 1)
    }

    /// Adds consecutive fields.
    pub fn add_fields(&mut self, fields: impl Iterator<Item = Field<'t>>) -> Fields {
        let start = self.fields.len();
        self.fields.extend(fields);
        Fields {
            start: start as u32,
            count: (self.fields.len() - start) as u32,
        }
    }

    /// Returns a type.
    #[inline]
    pub fn get(&self, id: TypeId) -> Type {
        self.types[id.index()]
    }

    /// Returns a field.
    #[inline]
    pub fn field(&self, index: usize) -> Field<'t> {
        self.fields[index]
    }

    /// Returns the fields of a map, or the parameters.
    #[inline]
    pub fn fields(&self, fields: Fields) -> &[Field<'t>] {
        &self.fields[fields.range()]
    }

    /// Returns all types, parts first.
    pub fn all(&self) -> &[Type] {
        &self.types
    }

    /// Returns the number of fields of all maps and parameters.
    pub fn field_count(&self) -> usize {
        self.fields.len()
    }
}

/// A signature: parameters and the return type.
#[derive(Debug, Clone)]
pub struct Signature<'t> {
    /// All types in it.
    pub types: Types<'t>,
    /// The parameters.
    pub params: Fields,
    /// The return type.
    pub returns: TypeId,
}
