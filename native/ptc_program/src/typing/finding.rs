//! What the checker finds, as data.

use super::ty::{Kinds, TyId};
use crate::analysis::names::NameId;
use crate::opcode::OpCode;
use ptc_json::Node;
use ptc_term::named::named;

named! {
    /// What was found.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub enum FindingCode {
        /// A field that no row can have.
        UnknownField = "unknown_field",
        /// A value of another kind than is needed.
        WrongKind = "wrong_kind",
        /// A value that may be of another kind than is needed.
        MaybeWrongKind = "maybe_wrong_kind",
        /// A number with a fraction where an integer is needed.
        WrongInteger = "wrong_integer",
        /// A name that the context or the memory does not have.
        UnknownName = "unknown_name",
        /// A name that no operation around binds, where nothing is known of the memory.
        UnboundName = "unbound_name",
        /// An operation without input.
        NoInput = "no_input",
        /// A tool that does not exist.
        UnknownTool = "unknown_tool",
        /// An argument that the tool needs.
        MissingArgument = "missing_argument",
        /// An argument that the tool does not have.
        UnknownArgument = "unknown_argument",
        /// An argument of another type.
        WrongArgument = "wrong_argument",
        /// An argument that may be of another type.
        MaybeWrongArgument = "maybe_wrong_argument",
        /// A result of another type.
        WrongResult = "wrong_result",
        /// A field that the result needs.
        MissingResult = "missing_result",
        /// A result that may be of another type.
        MaybeWrongResult = "maybe_wrong_result",
        /// A comparison with a fixed result.
        Always = "always",
        /// A comparison with a value that is not one of those that there are.
        NotInEnumeration = "not_in_enumeration",
        /// A comparison of a date or a time with a text that is none.
        NoDate = "no_date",
        /// A comparison for which null is greater than any number.
        NullIsGreater = "null_is_greater",
        /// A part that is never evaluated.
        NeverRuns = "never_runs",
        /// A call in a loop whose arguments are the same each time.
        ConstantCall = "constant_call",
        /// No mistake: the type of an operation's value.
        HasType = "has_type",
        /// No mistake: the type of the arguments of a call, for the rules that types cannot say.
        RuledCall = "ruled_call",
    }
}

/// Whether a finding is certain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The program cannot be right.
    Error,
    /// It may be right.
    Warning,
    /// No mistake, but what is known.
    Note,
}

/// A finding.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// Whether it is certain.
    pub severity: Severity,
    /// What was found.
    pub code: FindingCode,
    /// Where: a part of the program.
    pub node: Node,
    /// In which operation.
    pub op: Option<OpCode>,
    /// More about it; which details there are depends on the code.
    pub details: Vec<Detail>,
}

/// One detail of a finding.
#[derive(Debug, Clone, PartialEq)]
pub enum Detail {
    /// Nothing.
    None,
    /// A truth value.
    Bool(bool),
    /// A word of the language.
    Word(&'static str),
    /// A name, or a text.
    Name(NameId),
    /// Several names, or texts.
    Names(Vec<NameId>),
    /// Whether a name is one of the context; else of the memory.
    Context(bool),
    /// Kinds of values.
    Kinds(Kinds),
    /// The kinds of the values of a type.
    KindsOf(TyId),
    /// A type.
    Type(TyId),
    /// Which value is meant.
    Subject(Subject),
    /// A place inside a value: names of fields, or each item of a list.
    Path(Vec<Option<NameId>>),
}

/// Which value of an operation a finding is about.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Subject {
    /// The current value.
    Input,
    /// The items of the current list.
    Items,
    /// A field of the current value.
    Field(NameId),
    /// A field of the items.
    ItemsField(NameId),
    /// What is in a field of the operation.
    Operand(&'static str),
    /// An element of the list in a field of the operation.
    Part(&'static str, u32),
}
