//! What a program means after its analysis: expressions in an arena, without names to be resolved.
//!
//! The analysis removes all forms that can be written with others (`when`, `cond`, threading, `if-let`, `condp`, …), resolves
//! local names, and reports each error that a program has before it runs. The compiler reads nothing else.

use crate::patience::OutOfTime;
use crate::table::Builtin;
use num_bigint::BigInt;

/// An index into [`Analyzed::exprs`].
pub type ExprId = u32;
/// An index into [`Analyzed::names`].
pub type NameId = u32;
/// An index into [`Analyzed::locals`]. Each binding of a program has one of its own.
pub type LocalId = u32;
/// An index into [`Analyzed::functions`].
pub type FunctionId = u32;

/// A part of a source, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Span {
    /// Its first byte.
    pub start: u32,
    /// The byte behind it.
    pub end: u32,
}

/// A constant of the program.
#[derive(Debug, Clone, PartialEq)]
pub enum Literal {
    /// `nil`
    Nil,
    /// `true`, `false`
    Bool(bool),
    /// An integer of 64 bits.
    Int(i64),
    /// A larger integer.
    Large(BigInt),
    /// A float that is finite.
    Float(f64),
    /// `##Inf`
    Infinity,
    /// `##-Inf`
    NegativeInfinity,
    /// `##NaN`
    NaN,
    /// A string or a character.
    Str(String),
    /// A keyword, by its name.
    Keyword(String),
    /// A regular expression, by its source (after the escapes).
    Regex(String),
    /// A quoted symbol, by its name.
    Symbol(String),
}

/// An expression.
#[derive(Debug, Clone, PartialEq)]
pub enum Expr {
    /// A constant.
    Const(Literal),
    /// A local of this function, or of one around it.
    Local(LocalId),
    /// A name of the user namespace (`def`, memory), or else a built-in. Where `or_nil` is set it is nil if it is neither
    /// (a bare symbol as an operand of `or`).
    Global {
        /// The name.
        name: NameId,
        /// Whether an unknown name is nil.
        or_nil: bool,
    },
    /// A built-in that a qualified name means (`Math/abs`): nothing shadows it.
    Builtin(Builtin),
    /// `data/key`
    Data(NameId),
    /// `tool/name` as a value.
    Tool(NameId),
    /// `*1`, `*2`, `*3`
    History(u32),
    /// `(budget/remaining)`
    Budget,
    /// A vector.
    Vector(Vec<ExprId>),
    /// A map literal: keys and values in the order of the text.
    Map(Vec<(ExprId, ExprId)>),
    /// A set literal.
    Set(Vec<ExprId>),
    /// Tests the truth of the first.
    If(ExprId, ExprId, ExprId),
    /// Tests whether the first is nil: the second if it is, else the third.
    IfNil(ExprId, ExprId, ExprId),
    /// The value of the last one; nil if there is none.
    Do(Vec<ExprId>),
    /// `and`: not empty.
    And(Vec<ExprId>),
    /// `or`: not empty.
    Or(Vec<ExprId>),
    /// Binds in sequence.
    Let(Vec<(Pattern, ExprId)>, ExprId),
    /// Binds in sequence; `recur` in its body jumps to the body with new values.
    Loop(Vec<(Pattern, ExprId)>, ExprId),
    /// Jumps to the innermost loop or function around it.
    Recur(Vec<ExprId>),
    /// A function.
    Fn(FunctionId),
    /// Calls the value of the first with the others.
    Call(ExprId, Vec<ExprId>),
    /// `(tool/name …)`. The argument is a map, which only the run can check: `(tool/name)` has none, `(tool/name :k v)` has an
    /// [`Expr::Map`], `(tool/name e)` has any expression.
    CallTool(NameId, Option<ExprId>),
    /// `(tool/name …)` with arguments that no tool takes: they are evaluated, then it fails.
    BadToolCall(NameId, Vec<ExprId>),
    /// `def`, `defonce`, `defn`: binds in the user namespace; its value is a var.
    Def {
        /// The name.
        name: NameId,
        /// `defonce`: nothing happens if it is bound.
        once: bool,
        /// The docstring of `def`; that of `defn` belongs to its function.
        doc: Option<String>,
        /// The value.
        value: ExprId,
    },
    /// `(return e)`
    Return(ExprId),
    /// `(fail e)`
    Fail(ExprId),
    /// `case`: values and what they lead to, and the default.
    Case {
        /// What is compared.
        subject: ExprId,
        /// The clauses in order.
        clauses: Vec<(Vec<Literal>, ExprId)>,
        /// What no clause leads to; nil if there is none.
        default: Option<ExprId>,
    },
    /// `for` (collects) and `doseq`.
    For {
        /// The clauses in order; the first one is an [`Clause::Each`].
        clauses: Vec<Clause>,
        /// The body.
        body: ExprId,
        /// Whether the values of the body are collected.
        collects: bool,
    },
    /// `(juxt f …)`
    Juxt(Vec<ExprId>),
    /// `(apply f x … coll)`: not fewer than one argument.
    Apply(ExprId, Vec<ExprId>),
    /// `(pmap f c …)`
    Pmap(ExprId, Vec<ExprId>),
    /// `(pcalls f …)`
    Pcalls(Vec<ExprId>),
    /// `(try body… (catch e handler…))`: the body, the local of the error (a map), and the handler. Without a handler it is the body.
    Try(ExprId, LocalId, ExprId),
}

/// A clause of `for` or `doseq`.
#[derive(Debug, Clone, PartialEq)]
pub enum Clause {
    /// Runs the rest for each item of a collection.
    Each(Pattern, ExprId),
    /// `:when`
    When(ExprId),
    /// `:while`: ends the innermost loop.
    While(ExprId),
    /// `:let`
    Let(Vec<(Pattern, ExprId)>),
}

/// What a value is bound to.
#[derive(Debug, Clone, PartialEq)]
pub enum Pattern {
    /// One local.
    Local(LocalId),
    /// `[p … & r]`
    List(Vec<Pattern>, Option<Box<Pattern>>),
    /// `{:keys [a]}`, `{p :k}`, …
    Map {
        /// In the order of the text.
        entries: Vec<Entry>,
        /// `:as`
        whole: Option<LocalId>,
    },
}

/// An entry of a map pattern.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// What its value is bound to.
    pub pattern: Pattern,
    /// The key: a keyword or a string. It is looked up flexibly.
    pub key: Literal,
    /// `:or`: the value if the key is absent.
    pub default: Option<Literal>,
}

/// A local.
#[derive(Debug, Clone, PartialEq)]
pub struct Local {
    /// Its name.
    pub name: String,
    /// The function that binds it; `None` for the program itself.
    pub function: Option<FunctionId>,
}

/// A function of the program.
#[derive(Debug, Clone, PartialEq)]
pub struct Function {
    /// `(fn name …)`: the local that the function is bound to inside. `defn` has none.
    pub own: Option<LocalId>,
    /// The name that it is known by, for messages: that of `defn`, `def` or `fn`.
    pub name: Option<String>,
    /// Its parameters.
    pub params: Vec<Pattern>,
    /// The parameter behind `&`.
    pub rest: Option<Pattern>,
    /// The parameters as they are printed: `x`, `_` for patterns, `&`, `r`; `p1`, `p2` and `& rest` for `#()`.
    pub printed: Vec<String>,
    /// Its body.
    pub body: ExprId,
    /// The docstring of `defn`.
    pub doc: Option<String>,
    /// Its text: the whole `(fn …)`, `#(…)` or `(defn …)`.
    pub source: Span,
    /// Its text, if a threading form has put a part into it: then no part of the source is its text. Empty if that text cannot be
    /// written down.
    pub threaded: Option<String>,
    /// Where its text stands: 0 for the program, `n + 1` for the text of the added function `n`.
    pub unit: u32,
    /// The function around it; `None` for the program itself.
    pub parent: Option<FunctionId>,
}

/// A program after its analysis.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Analyzed {
    /// All expressions.
    pub exprs: Vec<Expr>,
    /// Where each stands in the text.
    pub spans: Vec<Span>,
    /// The names of globals, data and tools.
    pub names: Vec<String>,
    /// All locals.
    pub locals: Vec<Local>,
    /// All functions, in the order of their texts.
    pub functions: Vec<Function>,
    /// The expression whose value the program has.
    pub root: Option<ExprId>,
    /// Globals that are used where nothing in the program binds them before, and that are no built-ins: each once, in the order of
    /// the text. They must be in the memory.
    pub unbound: Vec<NameId>,
    /// The functions that were added, in their order. What they capture are locals of the program itself.
    pub added: Vec<FunctionId>,
    /// The tools that the program names: each once, in the order of the text. Those that only added functions name are not here.
    pub tools: Vec<NameId>,
    /// The names that the program defines.
    pub defined: Vec<NameId>,
    /// The literals of regular expressions, in the order of the text: the caller compiles them.
    pub regexes: Vec<ExprId>,
    /// Number of unique symbols and keywords, for `:max_symbols`.
    pub symbols: usize,
}

/// An error of reading or analysis.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    /// `fail.reason`.
    pub reason: &'static str,
    /// Which message: the Elixir side has its words.
    pub code: &'static str,
    /// What the message is about: names, numbers and texts, in its order.
    pub parts: Vec<Part>,
    /// Where it is.
    pub at: Span,
}

impl Problem {
    /// The reason of what is no error of the program: its compilation must end.
    const OUT_OF_TIME: &'static str = "timeout";

    /// Returns whether the compilation was ended.
    pub fn is_out_of_time(&self) -> bool {
        self.reason == Problem::OUT_OF_TIME
    }
}

impl From<OutOfTime> for Problem {
    fn from(_: OutOfTime) -> Problem {
        Problem {
            reason: Problem::OUT_OF_TIME,
            code: "timeout",
            parts: Vec::new(),
            at: Span::default(),
        }
    }
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// A text.
    Text(String),
    /// A number.
    Number(i64),
}
