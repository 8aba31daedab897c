//! Descriptions of the fields of operations: kind, presence and purpose.
//!
//! The check of a program, the schemas and the prompt are generated from them.

use crate::edition::Edition;
use ptc_term::named::named;

named! {
    /// The kind of a field's value.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum FieldKind {
        /// Any value, taken literally.
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
        /// A non-negative integer.
        Count = "non_neg_integer",
        /// `"asc"` or `"desc"`; `null` is neither.
        Order = "order",
        /// Any value; objects in it that name an operation are evaluated, at any depth.
        Template = "template",
        /// A list of templates.
        TemplateList = "template_list",
        /// A list of templates, or an operation.
        Parts = "parts",
        /// A map of templates.
        TemplateMap = "template_map",
        /// A map of strings.
        StringMap = "string_map",
        /// A string, or an operation.
        Text = "text",
        /// A string that is not empty, or an operation.
        NonEmptyText = "non_empty_text",
        /// A regular expression.
        Pattern = "pattern",
        /// One of a few strings, see [`Field::choices`].
        Choice = "choice",
        /// A positive integer.
        Positive = "positive_integer",
        /// A number from 0 to 100.
        Percent = "percent",
        /// An integer from 0 to 20.
        Places = "places",
        /// `true` or `false`.
        Boolean = "boolean",
        /// A list of objects with an operation `when` and a template `then`.
        Cases = "cases",
        /// A list of objects with `field` or `expr`, and `order`.
        SortKeys = "sort_keys",
    }
}

impl FieldKind {
    /// Returns whether the kind came with edition 2; such fields are checked elsewhere than those of edition 1.
    pub(crate) fn is_new(self) -> bool {
        self as u8 > FieldKind::Template as u8
    }

    /// Returns the fields of the objects that the list holds, in ascending order; empty for other kinds.
    pub(crate) fn fields_of_parts(self) -> &'static [&'static str] {
        match self {
            FieldKind::Cases => &["then", "when"],
            FieldKind::SortKeys => &["expr", "field", "order"],
            _ => &[],
        }
    }

    /// Returns whether the field holds a single operation, which is checked when it is compiled.
    pub fn is_operation(self) -> bool {
        matches!(
            self,
            FieldKind::Expr | FieldKind::Operand | FieldKind::Template
        )
    }
}

named! {
    /// Whether a program must give a field.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Presence {
        /// Required.
        Required = "required",
        /// Required and not `null`.
        NotNull = "not_null",
        /// Normally given; if it is missing or `null`, the operation does something else.
        Expected = "expected",
        /// Exactly one of the operation's fields marked like this must be given.
        Alternative = "alternative",
        /// Optional.
        Optional = "optional",
        /// Optional; `null` is a value.
        Nullable = "nullable",
    }
}

/// A field of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// Its name in a program.
    pub name: &'static str,
    /// Its kind.
    pub kind: FieldKind,
    /// Whether it must be given.
    pub presence: Presence,
    /// Its purpose, for readers.
    pub about: &'static str,
    /// Its possible values, shown to models, if the kind does not determine them; else empty.
    pub values: &'static str,
    /// The strings that it may hold, if there are only a few.
    pub choices: &'static [&'static str],
    /// The phrase of the error if it holds something else: the field's name in quotes, and what it must be.
    pub must_be: &'static str,
    /// Whether it holds a condition, or several.
    pub is_condition: bool,
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
            choices: &[],
            must_be: "",
            is_condition: false,
        }
    }

    /// A required field.
    pub(super) const fn required(name: &'static str, kind: FieldKind, about: &'static str) -> Self {
        Field::new(Presence::Required, name, kind, about)
    }

    /// A field that is required and not `null`.
    pub(super) const fn not_null(name: &'static str, kind: FieldKind, about: &'static str) -> Self {
        Field::new(Presence::NotNull, name, kind, about)
    }

    /// A field that is normally given.
    pub(super) const fn expected(name: &'static str, kind: FieldKind, about: &'static str) -> Self {
        Field::new(Presence::Expected, name, kind, about)
    }

    /// One of several fields, exactly one of which is required.
    pub(super) const fn alternative(
        name: &'static str,
        kind: FieldKind,
        about: &'static str,
    ) -> Self {
        Field::new(Presence::Alternative, name, kind, about)
    }

    /// An optional field.
    pub(super) const fn optional(name: &'static str, kind: FieldKind, about: &'static str) -> Self {
        Field::new(Presence::Optional, name, kind, about)
    }

    /// An optional field for which `null` is a value.
    pub(super) const fn nullable(name: &'static str, kind: FieldKind, about: &'static str) -> Self {
        Field::new(Presence::Nullable, name, kind, about)
    }

    /// Returns the same field with the strings that it may hold, and the phrase of the error if it holds something else:
    /// `"'kind' must be 'inner', 'left' or 'group'"`.
    pub(super) const fn choices(
        self,
        choices: &'static [&'static str],
        must_be: &'static str,
    ) -> Self {
        Field {
            choices,
            must_be,
            ..self
        }
    }

    /// Returns the same field with the phrase of the error if it holds something else: its name in quotes, and what it
    /// must be.
    pub(super) const fn must_be(self, must_be: &'static str) -> Self {
        Field { must_be, ..self }
    }

    /// Returns whether `null` is a value of the field, though it is optional.
    pub fn takes_null(&self) -> bool {
        self.presence == Presence::Nullable
    }

    /// Returns whether a program may leave it out, and `null` is the same in edition 2.
    pub fn may_be_absent(&self) -> bool {
        matches!(
            self.presence,
            Presence::Optional | Presence::Alternative | Presence::Expected
        )
    }

    /// Returns whether a program should always give it.
    pub fn is_required(&self) -> bool {
        !matches!(
            self.presence,
            Presence::Alternative | Presence::Optional | Presence::Nullable
        )
    }

    /// Returns the same field with a condition, or several, as its value.
    pub(super) const fn condition(self) -> Self {
        Field {
            is_condition: true,
            ..self
        }
    }

    /// Returns the same field with its possible values.
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

/// Returns which fields of an operation came with edition 2, as bits in the order of `new`. All fields of a new operation
/// are new.
pub(super) const fn new_fields(edition: Edition, old: &[Field], new: &[Field]) -> u8 {
    let (mut bits, mut at) = (0, 0);
    while at < new.len() {
        let mut is_old = false;
        let mut before = 0;
        while before < old.len() {
            is_old |= is_same(old[before].name.as_bytes(), new[at].name.as_bytes());
            before += 1;
        }
        if !is_old || matches!(edition, Edition::Two) {
            bits |= 1 << at;
        }
        at += 1;
    }
    bits
}

const fn is_same(a: &[u8], b: &[u8]) -> bool {
    let mut at = 0;
    while at < a.len() && at < b.len() && a[at] == b[at] {
        at += 1;
    }
    a.len() == b.len() && at == a.len()
}
