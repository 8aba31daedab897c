//! The types without parts, and their words.

use ptc_term::named::Named;

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
    /// `:date`; the grammar has no text for it.
    Date,
    /// `:decimal`; the grammar has no text for it.
    Decimal,
    /// `:number`, a number of a JSON Schema: an integer stays one. The grammar has no text for it, and it is shown as `:float`.
    Number,
}

impl Named for Scalar {
    const ALL: &'static [Self] = &Scalar::ALL;

    fn name(self) -> &'static str {
        Scalar::name(self)
    }
}

impl Scalar {
    /// The scalars of the grammar, in the order of their numbers.
    pub const WORDS: [Scalar; 8] = [
        Scalar::String,
        Scalar::Int,
        Scalar::Float,
        Scalar::Bool,
        Scalar::Keyword,
        Scalar::Any,
        Scalar::Map,
        Scalar::DateTime,
    ];

    /// All scalars, in the order of their numbers.
    pub const ALL: [Scalar; 11] = [
        Scalar::String,
        Scalar::Int,
        Scalar::Float,
        Scalar::Bool,
        Scalar::Keyword,
        Scalar::Any,
        Scalar::Map,
        Scalar::DateTime,
        Scalar::Date,
        Scalar::Decimal,
        Scalar::Number,
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
            Scalar::Date => "date",
            Scalar::Decimal => "decimal",
            Scalar::Number => "number",
        }
    }
}
