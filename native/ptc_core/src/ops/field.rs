//! The fields of operations: what each holds, whether it must be there, what it is for.
//!
//! The check of a program, the schemas and the prompt are made from these.

use crate::named::named;

named! {
    /// What a field holds.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum FieldKind {
        /// Anything, taken literally.
        Any = "any",
        /// A string.
        String = "string",
        /// A map, taken literally.
        Map = "map",
        /// An operation.
        Expr = "expr",
        /// An operation or a bare number.
        Operand = "operand",
        /// A list of operations.
        ExprList = "expr_list",
        /// A list of strings.
        StringList = "string_list",
        /// An integer from 0.
        Count = "non_neg_integer",
        /// `"asc"` or `"desc"`; `null` is neither.
        Order = "order",
    }
}

impl FieldKind {
    /// Whether one operation stands there, which is checked where it is compiled.
    pub fn is_operation(self) -> bool {
        matches!(self, FieldKind::Expr | FieldKind::Operand)
    }
}

named! {
    /// Whether a program gives a field.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Presence {
        /// It must.
        Required = "required",
        /// It must, and `null` does not count.
        NotNull = "not_null",
        /// It should; without it, or with `null`, the operation does something else.
        Expected = "expected",
        /// It must give just one of the operation's fields that are marked so.
        Alternative = "alternative",
        /// It may.
        Optional = "optional",
    }
}

/// A field of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// Its name in a program.
    pub name: &'static str,
    /// What it holds.
    pub kind: FieldKind,
    /// Whether a program gives it.
    pub presence: Presence,
    /// What it is for, for readers.
    pub about: &'static str,
    /// What may stand there, if its kind does not say that; shown to models. Else empty.
    pub values: &'static str,
}

impl Field {
    const fn new(
        presence: Presence,
        name: &'static str,
        kind: FieldKind,
        about: &'static str,
    ) -> Self {
        Field {
            name,
            kind,
            presence,
            about,
            values: "",
        }
    }

    /// A field that must be there.
    pub(super) const fn required(name: &'static str, kind: FieldKind, about: &'static str) -> Self {
        Field::new(Presence::Required, name, kind, about)
    }

    /// A field that must be there and not `null`.
    pub(super) const fn not_null(name: &'static str, kind: FieldKind, about: &'static str) -> Self {
        Field::new(Presence::NotNull, name, kind, about)
    }

    /// A field that should be there.
    pub(super) const fn expected(name: &'static str, kind: FieldKind, about: &'static str) -> Self {
        Field::new(Presence::Expected, name, kind, about)
    }

    /// One of several fields, of which one must be there.
    pub(super) const fn alternative(
        name: &'static str,
        kind: FieldKind,
        about: &'static str,
    ) -> Self {
        Field::new(Presence::Alternative, name, kind, about)
    }

    /// A field that may be there.
    pub(super) const fn optional(name: &'static str, kind: FieldKind, about: &'static str) -> Self {
        Field::new(Presence::Optional, name, kind, about)
    }

    /// Whether a program should always give it.
    pub fn is_required(&self) -> bool {
        !matches!(self.presence, Presence::Alternative | Presence::Optional)
    }

    /// The same field with what may stand there.
    pub(super) const fn values(self, values: &'static str) -> Self {
        Field { values, ..self }
    }
}

/// The only field of the operations that read one key of the items.
pub(super) const FIELD_OF_ITEMS: &[Field] = &[Field::required(
    "field",
    FieldKind::String,
    "the items' key that is read",
)];
