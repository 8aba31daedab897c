//! What is still to be done. Analysis is a stack of tasks, so that no program is too deep for it.

use crate::ast::{FunctionId, LocalId, NameId};
use crate::read::{FormId, SymbolId};
use crate::table::Builtin;

/// How a form stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place(u8);

impl Place {
    /// An operand.
    pub const OPERAND: Place = Place(0);
    /// An operand of `or`.
    pub const OF_OR: Place = Place(4);
    /// In a body or in the value of a binding, where a definition counts.
    pub const COUNTS: Place = Place(2);
    /// In tail position.
    pub const TAIL: Place = Place(1);

    /// Returns whether `recur` may stand here.
    #[inline]
    pub fn is_tail(self) -> bool {
        self.0 & 1 != 0
    }

    /// Returns whether a definition here counts for what comes after.
    #[inline]
    pub fn counts(self) -> bool {
        self.0 & 2 != 0
    }

    /// Returns whether an unknown symbol is nil here.
    #[inline]
    pub fn is_of_or(self) -> bool {
        self.0 & 4 != 0
    }

    /// Returns the place of a branch.
    #[inline]
    pub fn branch(self) -> Place {
        Place(self.0 & 1)
    }

    /// Returns the place of the last form of a body that stands here.
    #[inline]
    pub fn last(self) -> Place {
        Place(self.0 & 3)
    }

    /// Returns both.
    #[inline]
    pub fn and(self, other: Place) -> Place {
        Place(self.0 | other.0)
    }
}

/// A task. Those that build take expressions from the stack of results and put one there.
#[derive(Debug, Clone, Copy)]
pub enum Task {
    /// Analyzes a form.
    Form(FormId, Place),
    /// `nil`
    Nil(FormId),
    /// A local without a name.
    Local(LocalId, FormId),
    /// A built-in that is meant whatever the names are.
    Builtin(Builtin, FormId),
    /// Builds an expression of a form.
    Build(Build, FormId),
    /// Binds a pattern to the value that was analyzed last.
    Bind(FormId),
    /// Binds a local without a name.
    BindLocal(LocalId),
    /// Ends a frame; the flag says whether its definitions count for what comes after.
    EndScope(bool),
    /// Begins a frame: bindings and definitions that end together.
    Open,
    /// Ends a definition.
    EndDef(Definition),
    /// Ends a function; its span is that of the form.
    EndFunction(FunctionId, FormId),
    /// Ends a `try`.
    EndTry(FormId),
    /// Makes the last pattern and value a clause of `for`.
    Each,
    /// Makes the last value a `:when`, or a `:while`.
    Test(bool),
    /// Makes this many patterns and values a `:let`.
    LetClause(u32),
}

/// A definition.
#[derive(Debug, Clone, Copy)]
pub struct Definition {
    /// The form.
    pub form: FormId,
    /// Its name.
    pub name: SymbolId,
    /// Its docstring, or [`NO_FORM`].
    pub doc: FormId,
    /// `defonce`
    pub once: bool,
    /// Whether it counts for what comes after.
    pub counts: bool,
}

/// The id of no form.
pub const NO_FORM: FormId = FormId::MAX;

/// An expression that is built of the last results: the number says of how many.
#[derive(Debug, Clone, Copy)]
pub enum Build {
    /// A call with this many arguments.
    Call(u32),
    /// A vector.
    Vector(u32),
    /// A map of so many pairs.
    Map(u32),
    /// A set.
    Set(u32),
    /// A test and two branches.
    If,
    /// A test for nil and two branches.
    IfNil,
    /// A test for nil and two branches, the other one first.
    IfSome,
    /// Pairs of tests and results, and a default.
    Cond(u32),
    /// A subject, results of this many clauses, and perhaps a default.
    Case(u32, bool),
    /// A body.
    Do(u32),
    /// `and`
    And(u32),
    /// `or`
    Or(u32),
    /// Values of bindings, and a body.
    Let(u32),
    /// Values of bindings of `loop`, and its body.
    Loop(u32),
    /// `recur`
    Recur(u32),
    /// `return`
    Return,
    /// `fail`
    Fail,
    /// `juxt`
    Juxt(u32),
    /// `apply` with this many arguments behind the function.
    Apply(u32),
    /// `pmap`, likewise.
    Pmap(u32),
    /// `pcalls`
    Pcalls(u32),
    /// A call of a tool with one argument, or with none.
    Tool(NameId, bool),
    /// A call of a tool with pairs of names and values.
    NamedTool(NameId, u32),
    /// A call of a tool with arguments that no tool takes.
    BadTool(NameId, u32),
    /// `for`, or `doseq`, of this many clauses, and a body.
    For(u32, bool),
}
