//! `update` and `update-in`: a function of the value at a key, or at a path, gives its new value.

use super::ends::of_builtin;
use super::function::{Applied, FunctionLike};
use super::{Refusal, Turn};
use crate::code::{Eval, Halt, Machine};
use crate::exec::checks::{failed, invalid_types};
use crate::families;
use crate::fault::Fault;
use crate::look::{look_up_any, Found};
use crate::table::Builtin;
use crate::values::{class, make_int, Class};
use ptc_term::heap::{Heap, Lookup};
use ptc_term::rooted;
use ptc_vm::Halt as VmHalt;

/// An update that has begun.
#[derive(Debug, Clone, PartialEq)]
pub struct Update<T> {
    builtin: Builtin,
    function: FunctionLike<T>,
    coll: T,
    /// The key, or the path.
    at: T,
    /// The arguments of the function behind the value.
    others: Vec<T>,
    /// The new value.
    value: Option<T>,
    awaits: bool,
}

rooted!(Update {
    terms: coll, at; optional: value; lists: others; states: function; plain: builtin, awaits
});

impl<T: Copy> Update<T> {
    /// The start.
    pub fn of(
        builtin: Builtin,
        function: FunctionLike<T>,
        (coll, at, others): (T, T, &[T]),
    ) -> Self {
        Update {
            builtin,
            function,
            coll,
            at,
            others: others.to_vec(),
            value: None,
            awaits: false,
        }
    }

    pub(super) fn step<H: Heap<Term = T>>(
        &mut self,
        m: &mut Machine<'_, H>,
        returned: Option<T>,
    ) -> Result<Turn<T>, Halt<H>> {
        if let Some(value) = returned.filter(|_| self.awaits) {
            self.value = Some(value);
        }
        self.awaits = false;
        let value = match self.value {
            Some(value) => value,
            None => {
                let mut given = vec![self.current(m)?];
                given.extend(&self.others);
                if let Some(params) = self.function.refuses_count(given.len()) {
                    return Err(self.wrong_count(m, params, given.len()));
                }
                match self.function.apply_to(m, &given)? {
                    Applied::Value(value) => value,
                    Applied::Called => {
                        let next = self.function.call(m, &given)?;
                        self.awaits = true;
                        return Ok(Turn::Next(next));
                    }
                    Applied::Refused => return Err(self.refused()),
                }
            }
        };
        // The function is not applied again if this is suspended.
        self.value = Some(value);
        let assoc = match self.builtin {
            Builtin::Update => Builtin::Assoc,
            _ => Builtin::AssocIn,
        };
        let put = families::call(m, assoc, &[self.coll, self.at, value]);
        put.map(Turn::done)
            .map_err(|halt| of_builtin::<H>(halt, self.builtin))
    }

    /// Returns the value that is there now: of `update`, at the exact key.
    fn current<H: Heap<Term = T>>(&self, m: &mut Machine<'_, H>) -> Eval<H> {
        if self.builtin == Builtin::Update {
            return self.exactly(m, self.coll, self.at);
        }
        let (mut value, mut rest) = (self.coll, self.at);
        if m.heap.is_empty_list(rest) {
            let nil = m.heap.nil();
            return match class(m, value) {
                Class::List => self.exactly(m, value, nil),
                _ => self.flexibly(m, value, nil),
            };
        }
        while let Some((key, tail)) = m.heap.uncons(rest) {
            m.consume_fuel(1)?;
            value = match class(m, value) {
                Class::List => self.exactly(m, value, key)?,
                _ => self.flexibly(m, value, key)?,
            };
            rest = tail;
        }
        Ok(value)
    }

    fn flexibly<H: Heap<Term = T>>(&self, m: &mut Machine<'_, H>, coll: T, key: T) -> Eval<H> {
        let found = look_up_any(m, coll, key)?;
        Ok(match found {
            Found::Value(value) => value,
            _ => m.heap.nil(),
        })
    }

    fn exactly<H: Heap<Term = T>>(&self, m: &mut Machine<'_, H>, coll: T, key: T) -> Eval<H> {
        if class(m, coll) == Class::List {
            return self.in_list(m, coll, key);
        }
        let cost = m.weigh(key)?;
        m.consume_fuel_for_lookup(coll, cost)?;
        match m.heap.lookup(coll, key, &mut H::KeyCache::default()) {
            Lookup::Found(value) => Ok(value),
            _ => Ok(m.heap.nil()),
        }
    }

    /// Returns the item of a list at an index, which must be there.
    fn in_list<H: Heap<Term = T>>(&self, m: &mut Machine<'_, H>, list: T, index: T) -> Eval<H> {
        let Some(wanted) = m.heap.small_integer(index) else {
            return Err(self.refused());
        };
        let (mut rest, mut at) = (list, 0);
        while let Some((item, tail)) = m.heap.uncons(rest) {
            m.consume_fuel(1)?;
            if at == wanted {
                return Ok(item);
            }
            (rest, at) = (tail, at + 1);
        }
        let length = make_int(m, at);
        Err(failed("index", self.builtin, &[index, length]))
    }

    #[cold]
    fn refused(&self) -> Refusal<T> {
        let mut given = vec![self.coll, self.at, self.function.term];
        given.extend(&self.others);
        invalid_types(self.builtin, &given)
    }

    /// The error of a closure that takes another number of arguments.
    #[cold]
    fn wrong_count<H: Heap<Term = T>>(
        &self,
        m: &mut Machine<'_, H>,
        params: u32,
        got: usize,
    ) -> Halt<H> {
        let counts = [i64::from(params), got as i64];
        let terms = counts.map(|count| make_int(m, count)).to_vec();
        VmHalt::fault(Fault::of("update_arity", self.builtin.name(), terms))
    }
}
