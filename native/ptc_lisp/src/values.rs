//! What a value is, and how values are made: keywords, sets, functions and structs as terms.

use crate::code::{Eval, Machine};
use crate::consts::{Word, EMPTY_SET};
use crate::table::Builtin;
use ptc_term::heap::{words_of_map, Heap, Kind, Lookup};
use ptc_term::number::Number;
use ptc_vm::program::ConstId;

/// What a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// `nil`
    Nil,
    /// `true`, `false`
    Bool,
    /// An integer or a float.
    Number,
    /// `##Inf`, `##-Inf`, `##NaN`: atoms.
    Special,
    /// A binary.
    String,
    /// An atom, or a keyword struct.
    Keyword,
    /// A list.
    List,
    /// A map that is no struct.
    Map,
    /// A `MapSet`.
    Set,
    /// A closure, a built-in, or what `comp` and others made; also as data.
    Function,
    /// A tool as a value.
    Tool,
    /// A regular expression.
    Regex,
    /// A var.
    Var,
    /// A quoted symbol.
    Symbol,
    /// A duration.
    Duration,
    /// Another struct: a date, …
    Struct,
    /// A tuple, a pid, …
    Opaque,
}

/// What a function value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Callable<T> {
    /// A closure: its entry.
    Closure(u32),
    /// A built-in.
    Builtin(Builtin),
    /// What `comp`, `partial`, … made: the kind and the list of functions.
    Made(T, T),
    /// A tool: its name.
    Tool(T),
    /// A function as data.
    Data,
}

/// Returns whether two atoms are one.
#[inline]
pub fn is_word<H: Heap>(m: &Machine<'_, H>, term: H::Term, word: Word) -> bool {
    m.heap.identity(term) == m.heap.identity(m.constant(word.id()))
        || m.heap.identical(term, m.constant(word.id()))
}

/// Returns the module of a struct.
#[inline]
pub fn module<H: Heap>(m: &Machine<'_, H>, map: H::Term) -> Option<H::Term> {
    let key = m.constant(Word::Struct.id());
    match m.heap.lookup_atom(map, key, &mut H::KeyCache::default()) {
        Lookup::Found(module) => Some(module),
        _ => None,
    }
}

/// Returns a field of a struct.
#[inline]
pub fn field<H: Heap>(m: &Machine<'_, H>, map: H::Term, field: Word) -> Option<H::Term> {
    let key = m.constant(field.id());
    match m.heap.lookup_atom(map, key, &mut H::KeyCache::default()) {
        Lookup::Found(value) => Some(value),
        _ => None,
    }
}

/// Returns what a value is. Constant time.
pub fn class<H: Heap>(m: &Machine<'_, H>, term: H::Term) -> Class {
    match m.heap.kind(term) {
        Kind::Nil => Class::Nil,
        Kind::Bool => Class::Bool,
        Kind::Number => Class::Number,
        Kind::String => Class::String,
        Kind::List => Class::List,
        Kind::Map => match module(m, term) {
            None => Class::Map,
            Some(module) => class_of_struct(m, module),
        },
        Kind::Other => class_of_other(m, term),
    }
}

fn class_of_struct<H: Heap>(m: &Machine<'_, H>, module: H::Term) -> Class {
    let classes = [
        (Word::KeywordModule, Class::Keyword),
        (Word::SetModule, Class::Set),
        (Word::FunctionModule, Class::Function),
        (Word::RegexModule, Class::Regex),
        (Word::VarModule, Class::Var),
        (Word::SymbolModule, Class::Symbol),
        (Word::DurationModule, Class::Duration),
    ];
    let found = classes.iter().find(|(word, _)| is_word(m, module, *word));
    found.map_or(Class::Struct, |(_, class)| *class)
}

fn class_of_other<H: Heap>(m: &Machine<'_, H>, term: H::Term) -> Class {
    if m.heap.is_name(term) {
        let specials = [Word::Infinity, Word::NegativeInfinity, Word::NaN];
        return match specials.iter().any(|word| is_word(m, term, *word)) {
            true => Class::Special,
            false => Class::Keyword,
        };
    }
    match callable(m, term) {
        Some(Callable::Tool(_)) => Class::Tool,
        Some(_) => Class::Function,
        None => Class::Opaque,
    }
}

/// Returns what a function value is; `None` for a value that is none. What looks like a closure but names no entry of the
/// program is none.
#[inline]
pub fn callable<H: Heap>(m: &Machine<'_, H>, term: H::Term) -> Option<Callable<H::Term>> {
    let elements = m.heap.elements(term)?;
    let (&mark, parts) = elements.split_first()?;
    if is_word(m, mark, Word::Closure) {
        let entry = u32::try_from(m.heap.small_integer(*parts.first()?)?).ok()?;
        return match m.program().code.get(entry as usize) {
            Some(crate::code::Instr::Own(crate::code::Own::Entry { captures, .. }))
                if usize::from(*captures) == parts.len() - 1 =>
            {
                Some(Callable::Closure(entry))
            }
            _ => None,
        };
    }
    if is_word(m, mark, Word::Builtin) {
        let number = usize::try_from(m.heap.small_integer(*parts.first()?)?).ok()?;
        return Builtin::of_number(number).map(Callable::Builtin);
    }
    if is_word(m, mark, Word::Made) {
        return match parts {
            &[kind, functions] if is_made(m, kind) => Some(Callable::Made(kind, functions)),
            _ => None,
        };
    }
    if is_word(m, mark, Word::Tool) {
        let name = *parts.first()?;
        return (m.heap.kind(name) == Kind::String).then_some(Callable::Tool(name));
    }
    None
}

/// The kinds of functions that functions make.
pub const MADE: [Word; 8] = [
    Word::Comp,
    Word::Partial,
    Word::Juxt,
    Word::Complement,
    Word::Constantly,
    Word::Fnil,
    Word::EveryPred,
    Word::SomeFn,
];

fn is_made<H: Heap>(m: &Machine<'_, H>, kind: H::Term) -> bool {
    MADE.iter().any(|word| is_word(m, kind, *word))
}

/// Returns the name of a keyword as text: that of an atom, or the field of a struct. `read` gets its bytes.
pub fn with_keyword_name<H: Heap, R>(
    m: &Machine<'_, H>,
    keyword: H::Term,
    read: impl FnOnce(&[u8]) -> R,
) -> Option<R> {
    if m.heap.is_name(keyword) {
        return Some(m.heap.with_name(keyword, read));
    }
    let is_struct = m.heap.kind(keyword) == Kind::Map
        && module(m, keyword).is_some_and(|module| is_word(m, module, Word::KeywordModule));
    if !is_struct {
        return None;
    }
    let name = field(m, keyword, Word::Name)?;
    m.heap.bytes(name).map(read)
}

/// Returns whether a value is the keyword of this name.
pub fn is_named<H: Heap>(m: &Machine<'_, H>, value: H::Term, name: &[u8]) -> bool {
    with_keyword_name(m, value, |its| its == name).unwrap_or(false)
}

/// Makes the keyword of a name: an atom of the vocabulary, or a struct.
pub fn make_keyword<H: Heap>(m: &mut Machine<'_, H>, name: &str) -> H::Term {
    if let Some(word) = crate::vocabulary::Vocabulary::of(name) {
        return m.heap.word(word);
    }
    let name = m.heap.make_string(name.as_bytes());
    make_struct(m, Word::KeywordModule, &[Word::Name], &[name])
}

/// Makes a struct with these fields.
pub fn make_struct<H: Heap>(
    m: &mut Machine<'_, H>,
    module: Word,
    fields: &[Word],
    values: &[H::Term],
) -> H::Term {
    let mut keys = vec![m.constant(Word::Struct.id())];
    keys.extend(fields.iter().map(|field| m.constant(field.id())));
    let mut all = vec![m.constant(module.id())];
    all.extend(values);
    m.heap.make_map(&keys, &all)
}

/// Returns the map whose keys are the items of a set.
#[inline]
pub fn items_of_set<H: Heap>(m: &Machine<'_, H>, set: H::Term) -> H::Term {
    field(m, set, Word::Map).unwrap_or_else(|| m.constant(crate::consts::EMPTY_MAP))
}

/// Makes the set whose items are the keys of a map, which must have the empty list at each key.
pub fn set_of_map<H: Heap>(m: &mut Machine<'_, H>, map: H::Term) -> H::Term {
    let empty = m.constant(EMPTY_SET);
    let (mut keys, mut values) = (Vec::new(), Vec::new());
    for (key, value) in m.heap.entries(empty) {
        let is_map = is_word(m, key, Word::Map);
        keys.push(key);
        values.push(if is_map { map } else { value });
    }
    m.heap.make_map(&keys, &values)
}

/// Makes the set of these items; equal ones count once.
pub fn make_set<H: Heap>(m: &mut Machine<'_, H>, items: &[H::Term]) -> Eval<H> {
    m.count_new_map(items.len())?;
    m.check_heap_limit(words_of_map(items.len()))?;
    let present = m.constant(crate::consts::EMPTY_LIST);
    let map = m.heap.make_map(items, &vec![present; items.len()]);
    Ok(set_of_map(m, map))
}

/// Makes a built-in as a value.
pub fn make_builtin<H: Heap>(m: &mut Machine<'_, H>, builtin: Builtin) -> H::Term {
    let number = make_int(m, builtin as i64);
    let mark = m.constant(Word::Builtin.id());
    m.heap.make_tuple_value(&[mark, number])
}

/// Makes a function of functions.
pub fn make_made<H: Heap>(m: &mut Machine<'_, H>, kind: Word, functions: &[H::Term]) -> Eval<H> {
    let list = m.make_list(functions)?;
    let (mark, kind) = (m.constant(Word::Made.id()), m.constant(kind.id()));
    Ok(m.heap.make_tuple_value(&[mark, kind, list]))
}

/// Makes an integer.
#[inline]
pub fn make_int<H: Heap>(m: &mut Machine<'_, H>, value: i64) -> H::Term {
    let made = m.heap.make_counter(Number::Int(value));
    made.unwrap_or_else(|| m.heap.nil())
}

/// Makes a string, if the heap limit permits.
pub fn make_string<H: Heap>(m: &mut Machine<'_, H>, bytes: &[u8]) -> Eval<H> {
    m.check_heap_limit(ptc_term::heap::words_of_string(bytes.len()))?;
    Ok(m.heap.make_string(bytes))
}

/// Returns whether a constant is there: [`ptc_vm::program::NO_CONST`] is none.
#[inline]
pub fn is_const(id: ConstId) -> bool {
    id != ptc_vm::program::NO_CONST
}
