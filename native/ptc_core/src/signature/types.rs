//! Types in one flat table: what a type is made of stands before it, so that tables are built, read
//! and walked without recursion, however deep a type nests.

/// A place in a table of [`Types`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TypeId(pub u32);

impl TypeId {
    /// The place as an index.
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
    /// All of them, in the order of their numbers.
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

    /// The word in a text, without its colon.
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

/// Fields that stand side by side in a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Fields {
    /// The first one.
    pub start: u32,
    /// How many there are.
    pub count: u32,
}

impl Fields {
    /// Their indices.
    #[inline]
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..(self.start + self.count) as usize
    }
}

/// A type; its parts stand before it.
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
        /// No other keys are allowed. Has no text of its own.
        closed: bool,
    },
    /// A term that is no type; the number is its reader's.
    Unknown(u32),
}

/// A field of a map, or a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field<'t> {
    /// The declared name.
    pub name: &'t [u8],
    /// What it holds.
    pub holds: TypeId,
}

/// A table of types.
#[derive(Debug, Clone, Default)]
pub struct Types<'t> {
    types: Vec<Type>,
    fields: Vec<Field<'t>>,
}

impl<'t> Types<'t> {
    /// An empty table with room for a small signature.
    pub fn new() -> Self {
        Types {
            types: Vec::with_capacity(16),
            fields: Vec::with_capacity(16),
        }
    }

    /// Adds a type whose parts are there already.
    pub fn add(&mut self, of: Type) -> TypeId {
        self.types.push(of);
        TypeId(self.types.len() as u32 - 1)
    }

    /// Adds fields that stand side by side.
    pub fn add_fields(&mut self, fields: impl Iterator<Item = Field<'t>>) -> Fields {
        let start = self.fields.len();
        self.fields.extend(fields);
        Fields {
            start: start as u32,
            count: (self.fields.len() - start) as u32,
        }
    }

    /// The type at a place.
    #[inline]
    pub fn get(&self, id: TypeId) -> Type {
        self.types[id.index()]
    }

    /// The field at an index.
    #[inline]
    pub fn field(&self, index: usize) -> Field<'t> {
        self.fields[index]
    }

    /// The fields of a map, or the parameters.
    #[inline]
    pub fn fields(&self, fields: Fields) -> &[Field<'t>] {
        &self.fields[fields.range()]
    }

    /// All types, parts first.
    pub fn all(&self) -> &[Type] {
        &self.types
    }

    /// The number of fields of all maps and parameters.
    pub fn field_count(&self) -> usize {
        self.fields.len()
    }
}

/// A signature: parameters and the type of what is returned.
#[derive(Debug, Clone)]
pub struct Signature<'t> {
    /// All types in it.
    pub types: Types<'t>,
    /// The parameters.
    pub params: Fields,
    /// What is returned.
    pub returns: TypeId,
}
