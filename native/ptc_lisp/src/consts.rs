//! The constants of a program: those that each program has, at fixed places, and its own behind them.

use crate::ast::Literal;
use crate::vocabulary::Vocabulary;
use ptc_term::heap::{Heap, Kind};
use ptc_term::named::{named, Named};
use ptc_term::number::Number;
use ptc_vm::program::ConstId;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};

named! {
    /// The atoms that each program has as constants, in this order: the first constants. The first four are numbers instead, see
    /// [`materialize`].
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Word {
        /// The first element of a closure: `{mark, entry, captured…}`.
        Closure = "$ptc_lisp_closure",
        /// The first element of a built-in as a value: `{mark, number}`.
        Builtin = "$ptc_lisp_builtin",
        /// The first element of what `comp`, `partial`, … make: `{mark, kind, functions}`.
        Made = "$ptc_lisp_made",
        /// The first element of a tool as a value: `{mark, name}`.
        Tool = "$ptc_lisp_tool",
        /// The key of a struct's module.
        Struct = "__struct__",
        /// A field of keywords, vars, symbols and functions.
        Name = "name",
        /// A field of regular expressions and functions.
        Source = "source",
        /// A field of functions.
        Kind = "kind",
        /// A field of functions.
        Params = "params",
        /// A field of functions.
        Doc = "doc",
        /// A field of functions.
        Captured = "captured",
        /// A field of durations.
        Milliseconds = "milliseconds",
        /// A field of sets.
        Map = "map",
        /// Keywords outside of the vocabulary.
        KeywordModule = "Elixir.PtcRunner.Lisp.Keyword",
        /// What `def` gives.
        VarModule = "Elixir.PtcRunner.Lisp.Var",
        /// Quoted symbols.
        SymbolModule = "Elixir.PtcRunner.Lisp.Symbol",
        /// Regular expressions.
        RegexModule = "Elixir.PtcRunner.Lisp.Regex",
        /// Durations.
        DurationModule = "Elixir.PtcRunner.Lisp.Duration",
        /// Functions as data.
        FunctionModule = "Elixir.PtcRunner.Lisp.Function",
        /// Sets.
        SetModule = "Elixir.MapSet",
        /// `##Inf`
        Infinity = "infinity",
        /// `##-Inf`
        NegativeInfinity = "negative_infinity",
        /// `##NaN`
        NaN = "nan",
        /// The mark of what `return` gives.
        Return = "__ptc_return__",
        /// The mark of what `fail` gives.
        Fail = "__ptc_fail__",
        /// The kind of a closure as data.
        ClosureKind = "closure",
        /// The kind of a built-in as data.
        BuiltinKind = "builtin",
        /// A kind of a made function.
        Comp = "comp",
        /// A kind of a made function.
        Partial = "partial",
        /// A kind of a made function.
        Juxt = "juxt",
        /// A kind of a made function.
        Complement = "complement",
        /// A kind of a made function.
        Constantly = "constantly",
        /// A kind of a made function.
        Fnil = "fnil",
        /// A kind of a made function.
        EveryPred = "every_pred",
        /// A kind of a made function.
        SomeFn = "some_fn",
        /// The end of a program with a value.
        Ok = "ok",
        /// The end of a program by `return`.
        ReturnEnd = "return",
        /// The end of a program by `fail`.
        FailEnd = "fail",
        /// The field of an error that is caught.
        Message = "message",
        /// The field of an error that is caught.
        ToolKey = "tool",
        /// What `type` says.
        Boolean = "boolean",
        /// What `type` says.
        NumberType = "number",
        /// What `type` says.
        StringType = "string",
        /// What `type` says.
        KeywordType = "keyword",
        /// What `type` says.
        VectorType = "vector",
        /// What `type` says.
        SetType = "set",
        /// What `type` says.
        FunctionType = "function",
        /// What `type` says.
        RegexType = "regex",
        /// What `type` says.
        Unknown = "unknown",
    }
}

impl Word {
    /// Returns the constant of this word.
    pub const fn id(self) -> ConstId {
        self as ConstId
    }
}

/// The constant that is an empty set.
pub const EMPTY_SET: ConstId = Word::ALL.len() as ConstId;
/// The constant that is an empty list.
pub const EMPTY_LIST: ConstId = EMPTY_SET + 1;
/// The constant that is an empty map.
pub const EMPTY_MAP: ConstId = EMPTY_SET + 2;
/// The constant that is a map from the texts of functions to their closures' entries, see [`crate::exec::revive`].
pub const FUNCTIONS: ConstId = EMPTY_SET + 3;
/// The first constant of the program's own.
pub const FIRST_OWN: ConstId = EMPTY_SET + 4;

/// A constant as plain data.
#[derive(Debug, Clone, PartialEq)]
pub enum Const {
    /// A literal of the program.
    Literal(Literal),
    /// The atom of this name, if there is one; else nil.
    ExistingAtom(String),
    /// A tuple that begins with a word.
    Marked(Word, Vec<Const>),
    /// A list.
    List(Vec<Const>),
    /// A keyword as a struct, also for a name of the vocabulary.
    KeywordStruct(String),
    /// The text of the string or keyword that is this earlier constant.
    TextOf(ConstId),
    /// The keyword of that name as a struct. The text is the constant before it.
    KeywordOf(ConstId),
    /// A var.
    Var(String),
    /// A word.
    Word(Word),
    /// A map with strings as keys.
    Map(Vec<(String, Const)>),
}

impl Const {
    /// A string.
    pub fn text(text: impl Into<String>) -> Self {
        Const::Literal(Literal::Str(text.into()))
    }

    /// A number.
    pub fn number(number: i64) -> Self {
        Const::Literal(Literal::Int(number))
    }
}

/// Makes the terms of all constants. The marks of functions are numbers that only this program knows. `words`: the terms of
/// [`Word::ALL`]; `own`: the constants behind the fixed ones; `functions`: see [`FUNCTIONS`].
pub fn materialize<H: Heap>(
    heap: &mut H,
    words: impl Iterator<Item = H::Term>,
    functions: &Const,
    own: &[Const],
    empty_set: H::Term,
) -> Vec<H::Term> {
    let mut all = Vec::with_capacity(FIRST_OWN as usize + own.len());
    let marks = marks();
    all.extend(words);
    for word in [Word::Closure, Word::Builtin, Word::Made, Word::Tool] {
        all[word as usize] = word_or_mark(heap, word, marks);
    }
    all.push(empty_set);
    all.push(heap.make_list(&[]));
    all.push(heap.make_map(&[], &[]));
    all.push(make(heap, functions, marks));
    for constant in own {
        let term = match constant {
            Const::TextOf(of) => text_of(heap, own, &all, *of),
            Const::KeywordOf(of) => keyword_of(heap, own, &all, *of),
            constant => make(heap, constant, marks),
        };
        all.push(term);
    }
    all
}

/// The literal that is a constant of the program's own.
fn literal_of(own: &[Const], of: ConstId) -> Option<&Literal> {
    match own.get((of as usize).checked_sub(FIRST_OWN as usize)?)? {
        Const::Literal(literal) => Some(literal),
        _ => None,
    }
}

/// Makes the text of a string or a keyword, of which `all` may have the term.
fn text_of<H: Heap>(heap: &mut H, own: &[Const], all: &[H::Term], of: ConstId) -> H::Term {
    match literal_of(own, of) {
        Some(Literal::Str(_)) => all[of as usize],
        Some(Literal::Keyword(name)) => heap.make_string(name.as_bytes()),
        _ => heap.nil(),
    }
}

/// Makes the struct of such a keyword, whose text is the last term of `all`.
fn keyword_of<H: Heap>(heap: &mut H, own: &[Const], all: &[H::Term], of: ConstId) -> H::Term {
    let is_keyword = matches!(literal_of(own, of), Some(Literal::Keyword(_)));
    // One that is no name of the vocabulary is a struct itself.
    if is_keyword && heap.kind(all[of as usize]) == Kind::Map {
        return all[of as usize];
    }
    let text = all.last().copied().unwrap_or(heap.nil());
    struct_of(heap, Word::KeywordModule, Word::Name, text)
}

/// Returns a number that no value from outside has by chance: the first of the marks of functions.
fn marks() -> i64 {
    let random = RandomState::new().build_hasher().finish();
    (random >> 8) as i64
}

/// Makes a word, or the number that is the mark of a kind of function: only the run knows it, so that no value from outside can be
/// taken for a function.
fn word_or_mark<H: Heap>(heap: &mut H, word: Word, marks: i64) -> H::Term {
    match word {
        Word::Closure | Word::Builtin | Word::Made | Word::Tool => {
            let mark = heap.make_number(Number::Int(marks + word as i64));
            mark.unwrap_or_else(|| heap.word(word))
        }
        word => heap.word(word),
    }
}

/// Makes a constant. They are as deep as the compiler makes them: three levels.
fn make<H: Heap>(heap: &mut H, constant: &Const, marks: i64) -> H::Term {
    match constant {
        Const::Literal(literal) => make_literal(heap, literal),
        Const::ExistingAtom(name) => heap.atom_of(name.as_bytes()).unwrap_or_else(|| heap.nil()),
        Const::Word(word) => heap.word(*word),
        // What these are of is not known here.
        Const::TextOf(_) | Const::KeywordOf(_) => heap.nil(),
        Const::KeywordStruct(name) => make_struct(heap, Word::KeywordModule, Word::Name, name),
        Const::Var(name) => make_struct(heap, Word::VarModule, Word::Name, name),
        Const::Marked(word, parts) => {
            let mut terms = vec![word_or_mark(heap, *word, marks)];
            for part in parts {
                terms.push(make(heap, part, marks));
            }
            heap.make_tuple(&terms)
        }
        Const::List(parts) => {
            let mut terms = Vec::with_capacity(parts.len());
            for part in parts {
                terms.push(make(heap, part, marks));
            }
            heap.make_list(&terms)
        }
        Const::Map(entries) => {
            let mut keys = Vec::with_capacity(entries.len());
            let mut values = Vec::with_capacity(entries.len());
            for (key, value) in entries {
                keys.push(heap.make_string(key.as_bytes()));
                values.push(make(heap, value, marks));
            }
            heap.make_map(&keys, &values)
        }
    }
}

/// Makes the term of a literal.
pub fn make_literal<H: Heap>(heap: &mut H, literal: &Literal) -> H::Term {
    let number = |heap: &mut H, number| heap.make_number(number).unwrap_or_else(|| heap.nil());
    match literal {
        Literal::Nil => heap.nil(),
        Literal::Bool(value) => heap.boolean(*value),
        Literal::Int(value) => number(heap, Number::Int(*value)),
        Literal::Large(value) => number(heap, Number::from_big(value.clone())),
        Literal::Float(value) => number(heap, Number::Float(*value)),
        Literal::Infinity => heap.word(Word::Infinity),
        Literal::NegativeInfinity => heap.word(Word::NegativeInfinity),
        Literal::NaN => heap.word(Word::NaN),
        Literal::Str(text) => heap.make_string(text.as_bytes()),
        Literal::Keyword(name) => match Vocabulary::of(name) {
            Some(word) => heap.word(word),
            None => make_struct(heap, Word::KeywordModule, Word::Name, name),
        },
        Literal::Regex(source) => make_struct(heap, Word::RegexModule, Word::Source, source),
        Literal::Symbol(name) => make_struct(heap, Word::SymbolModule, Word::Name, name),
    }
}

/// Makes a struct with one field that is a text.
fn make_struct<H: Heap>(heap: &mut H, module: Word, field: Word, text: &str) -> H::Term {
    let text = heap.make_string(text.as_bytes());
    struct_of(heap, module, field, text)
}

fn struct_of<H: Heap>(heap: &mut H, module: Word, field: Word, text: H::Term) -> H::Term {
    let keys = [heap.word(Word::Struct), heap.word(field)];
    let values = [heap.word(module), text];
    heap.make_map(&keys, &values)
}
