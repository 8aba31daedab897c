//! The words of types and findings as terms.

use super::ty::Kinds;
use ptc_term::named::named;

named! {
    /// A word; on the BEAM an atom.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Word {
        /// Nothing is known.
        Any = "any",
        /// No value.
        Never = "never",
        /// A truth value.
        Bool = "bool",
        /// An integer.
        Int = "int",
        /// A number.
        Float = "float",
        /// A text.
        String = "string",
        /// A date or a time.
        Datetime = "datetime",
        /// A name.
        Keyword = "keyword",
        /// One value.
        Literal = "literal",
        /// A list.
        List = "list",
        /// An object.
        Map = "map",
        /// An object that may have other fields.
        OpenMap = "open_map",
        /// One of several types.
        Union = "union",
        /// A field that may be missing.
        Optional = "optional",
        /// A finding that is certain.
        Error = "error",
        /// A finding that is likely.
        Warning = "warning",
        /// What is known of an operation.
        Note = "note",
        /// The data of the run.
        Context = "context",
        /// The memory.
        Memory = "memory",
        /// The items of a list, in a path.
        Each = "each",
        /// The current value.
        Input = "input",
        /// Its items.
        Items = "items",
        /// One of its fields.
        Field = "field",
        /// A field of its items.
        ItemsField = "items_field",
        /// The value of a field of the operation.
        Operand = "operand",
        /// An element of the list in a field of the operation.
        Part = "part",
        /// A kind: `null`.
        Null = "null",
        /// A kind.
        Boolean = "boolean",
        /// A kind.
        Number = "number",
        /// A kind.
        Text = "text",
        /// A kind.
        Object = "object",
        /// A kind.
        Other = "other",
    }
}

/// The words of kinds.
pub(super) const KINDS: [(Kinds, Word); 7] = [
    (Kinds::NULL, Word::Null),
    (Kinds::BOOL, Word::Boolean),
    (Kinds::NUMBER, Word::Number),
    (Kinds::TEXT, Word::Text),
    (Kinds::LIST, Word::List),
    (Kinds::OBJECT, Word::Object),
    (Kinds::OTHER, Word::Other),
];
