//! What a built-in applies to items: a key or a function. What needs no activation is evaluated in place.

use super::looker::Looker;
use crate::code::{Halt, Instr, Machine, Own};
use crate::exec::enter::wrong_count_of_callback;
use crate::families;
use crate::look::Found;
use crate::table::{Builtin, Family};
use crate::values::{callable, class, items_of_set, Callable, Class};
use ptc_term::heap::{Heap, Lookup};
use ptc_term::rooted;
use ptc_vm::Next;

/// Fuel for the forms of a key of a path.
const FUEL_OF_KEY: usize = 16;

/// What may stand in the place of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StandIns {
    /// Keywords; also nil, booleans and special numbers, which are atoms as well.
    pub keywords: bool,
    /// Sets.
    pub sets: bool,
    /// Strings, as keys.
    pub strings: bool,
    /// Lists, as paths.
    pub paths: bool,
    /// Maps.
    pub maps: bool,
}

/// Only functions.
pub const FUNCTIONS: StandIns = StandIns {
    keywords: false,
    sets: false,
    strings: false,
    paths: false,
    maps: false,
};

/// Functions, keywords and sets.
pub const KEYFN: StandIns = StandIns {
    keywords: true,
    sets: true,
    ..FUNCTIONS
};

/// Functions, keywords, strings and paths.
pub const KEYS: StandIns = StandIns {
    keywords: true,
    strings: true,
    paths: true,
    ..FUNCTIONS
};

/// How a function is applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    /// A look-up in the item.
    Key,
    /// Look-ups one in the other.
    Path,
    /// Whether the item is a member.
    Set,
    /// A built-in that calls nothing: it is evaluated here.
    Builtin(Builtin),
    /// A closure with so many parameters, and perhaps a rest.
    Closure(u32, bool),
    /// What the machine enters.
    Called,
    /// No function.
    None,
}

/// A function, or what stands for one.
#[derive(Debug, Clone, PartialEq)]
pub struct FunctionLike<T> {
    /// It.
    pub term: T,
    how: How,
    lookers: Vec<Looker<T>>,
    /// Whether a key gives nil for an item that has no keys.
    lenient: bool,
}

rooted!(FunctionLike { terms: term; states: lookers; plain: how, lenient });

/// The value of a function, or why it has none yet.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Applied<T> {
    /// The value.
    Value(T),
    /// It must be called.
    Called,
    /// It cannot be applied to this item.
    Refused,
}

impl<T: Copy> FunctionLike<T> {
    /// Reads a function.
    pub fn of<H: Heap<Term = T>>(
        m: &mut Machine<'_, H>,
        term: T,
        takes: StandIns,
    ) -> Result<Self, Halt<H>> {
        let (how, lookers) = match class(m, term) {
            Class::Keyword | Class::Nil | Class::Bool | Class::Special if takes.keywords => {
                (How::Key, vec![Looker::of(m, term)])
            }
            Class::String if takes.strings => (How::Key, vec![Looker::of(m, term)]),
            Class::List if takes.paths => (How::Path, path(m, term)?),
            Class::Set if takes.sets => (How::Set, Vec::new()),
            Class::Map if takes.maps => (How::Called, Vec::new()),
            Class::Function | Class::Tool => (how(m, term), Vec::new()),
            _ => (How::None, Vec::new()),
        };
        Ok(FunctionLike {
            term,
            how,
            lookers,
            lenient: false,
        })
    }

    /// Returns the function with this leniency: in a lenient one, a key gives nil for an item that has no keys.
    pub fn lenient(self, lenient: bool) -> Self {
        FunctionLike { lenient, ..self }
    }

    /// Returns whether it can be applied to something.
    pub fn is_some(&self) -> bool {
        self.how != How::None
    }

    /// Returns whether it is called, and may do anything.
    pub fn is_called(&self) -> bool {
        matches!(self.how, How::Closure(..) | How::Called)
    }

    /// Returns whether it is a key.
    pub fn is_key(&self) -> bool {
        self.how == How::Key
    }

    /// Returns the built-in that it is.
    pub fn built_in(&self) -> Option<Builtin> {
        match self.how {
            How::Builtin(builtin) => Some(builtin),
            _ => None,
        }
    }

    /// Applies it to an item.
    #[inline]
    pub fn apply<H: Heap<Term = T>>(
        &mut self,
        m: &mut Machine<'_, H>,
        item: T,
    ) -> Result<Applied<T>, Halt<H>> {
        match self.how {
            How::Closure(..) | How::Called => Ok(Applied::Called),
            How::Key => {
                let found = self.lookers[0].look(m, item)?;
                self.found(m, found, item)
            }
            How::Builtin(builtin) => families::call(m, builtin, &[item]).map(Applied::Value),
            How::Set => {
                let cost = m.weigh(item)?;
                m.consume_fuel_at_once(cost)?;
                let members = items_of_set(m, self.term);
                let found = m.heap.lookup(members, item, &mut H::KeyCache::default());
                let is_member = matches!(found, Lookup::Found(_));
                Ok(Applied::Value(if is_member { item } else { m.heap.nil() }))
            }
            How::Path => self.follow(m, item),
            How::None => Ok(Applied::Refused),
        }
    }

    /// Returns the value of a key for an item whose keys are those of the last one.
    #[inline]
    pub fn at_known_key<H: Heap<Term = T>>(&self, heap: &H, item: T) -> Option<T> {
        self.lookers.first()?.known(heap, item)
    }

    /// Applies it to several values.
    #[inline]
    pub fn apply_to<H: Heap<Term = T>>(
        &mut self,
        m: &mut Machine<'_, H>,
        values: &[T],
    ) -> Result<Applied<T>, Halt<H>> {
        match (self.how, values) {
            (How::Closure(..) | How::Called, _) => Ok(Applied::Called),
            (How::Builtin(builtin), values) => {
                families::call(m, builtin, values).map(Applied::Value)
            }
            (_, [item]) => self.apply(m, *item),
            // Keys and sets take what the machine checks.
            (How::Key, [_, _]) | (How::Set, _) => Ok(Applied::Called),
            _ => Ok(Applied::Refused),
        }
    }

    /// Calls it with these arguments, which are pushed.
    #[inline]
    pub fn call<H: Heap<Term = T>>(
        &self,
        m: &mut Machine<'_, H>,
        arguments: &[T],
    ) -> Result<Next<T>, Halt<H>> {
        let count = arguments.len() as u32;
        if let How::Closure(params, rest) = self.how {
            if count != params && !(rest && count > params) {
                return Err(wrong_count_of_callback(m, self.term, count));
            }
        }
        arguments.iter().for_each(|argument| m.push(*argument));
        Ok(Next::Call(self.term, count))
    }

    /// Returns the number of parameters of a closure that does not take so many arguments.
    pub fn refuses_count(&self, count: usize) -> Option<u32> {
        match self.how {
            How::Closure(params, rest) => {
                let count = count as u32;
                (count != params && !(rest && count > params)).then_some(params)
            }
            _ => None,
        }
    }

    #[inline]
    fn found<H: Heap<Term = T>>(
        &self,
        m: &Machine<'_, H>,
        found: Found<T>,
        item: T,
    ) -> Result<Applied<T>, Halt<H>> {
        Ok(match found {
            Found::Value(value) => Applied::Value(value),
            Found::Missing => Applied::Value(m.heap.nil()),
            Found::NoKeys if self.lenient || may_have_no_keys(m, item) => {
                Applied::Value(m.heap.nil())
            }
            Found::NoKeys => Applied::Refused,
        })
    }

    fn follow<H: Heap<Term = T>>(
        &mut self,
        m: &mut Machine<'_, H>,
        item: T,
    ) -> Result<Applied<T>, Halt<H>> {
        let mut value = item;
        for (depth, looker) in self.lookers.iter_mut().enumerate() {
            value = match looker.look(m, value)? {
                Found::Value(value) => value,
                Found::NoKeys if depth == 0 && !self.lenient && !may_have_no_keys(m, item) => {
                    return Ok(Applied::Refused)
                }
                _ => return Ok(Applied::Value(m.heap.nil())),
            };
        }
        Ok(Applied::Value(value))
    }
}

/// Returns whether a look-up in a value that has no keys gives nil.
fn may_have_no_keys<H: Heap>(m: &Machine<'_, H>, item: H::Term) -> bool {
    let class = class(m, item);
    matches!(
        class,
        Class::Set | Class::Keyword | Class::Bool | Class::Special
    )
}

/// Returns how a function is applied.
fn how<H: Heap>(m: &Machine<'_, H>, function: H::Term) -> How {
    match callable(m, function) {
        Some(Callable::Builtin(builtin)) => match builtin.row().family {
            Family::Calls | Family::Asked => How::Called,
            _ if builtin == Builtin::Println => How::Called,
            _ => How::Builtin(builtin),
        },
        Some(Callable::Closure(entry)) => match m.program().code.get(entry as usize) {
            Some(Instr::Own(Own::Entry { params, rest, .. })) => {
                How::Closure(u32::from(*params), *rest)
            }
            _ => How::Called,
        },
        _ => How::Called,
    }
}

/// The keys of a path.
fn path<H: Heap>(m: &mut Machine<'_, H>, list: H::Term) -> Result<Vec<Looker<H::Term>>, Halt<H>> {
    let (mut lookers, mut rest) = (Vec::new(), list);
    while let Some((key, tail)) = m.heap.uncons(rest) {
        m.consume_fuel(FUEL_OF_KEY)?;
        lookers.push(Looker::of(m, key));
        rest = tail;
    }
    Ok(lookers)
}
