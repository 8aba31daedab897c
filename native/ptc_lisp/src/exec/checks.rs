//! The checks of a built-in's arguments, before it is evaluated: their number, and what each must be.

use crate::code::{Halt, Machine};
use crate::fault::Fault;
use crate::table::{Builtin, Check, Takes, MANY};
use crate::values::{class, make_int, Class};
use ptc_term::heap::Heap;
use ptc_vm::Halt as VmHalt;

/// Checks the arguments of a built-in.
#[inline]
pub fn check<H: Heap>(
    m: &mut Machine<'_, H>,
    builtin: Builtin,
    arguments: &[H::Term],
) -> Result<(), Halt<H>> {
    let row = builtin.row();
    let count = arguments.len();
    if count < row.least as usize || (row.most != MANY && count > row.most as usize) {
        return Err(wrong_count(m, builtin, count));
    }
    if row.checks.is_empty() {
        return Ok(());
    }
    for (place, argument) in arguments.iter().enumerate() {
        let check = match row.checks.get(place) {
            Some(check) => *check,
            None if row.repeats => row.checks[row.checks.len() - 1],
            None => break,
        };
        if !holds(m, check, *argument) {
            return Err(refused_argument(m, builtin, (place + 1, check), arguments));
        }
    }
    Ok(())
}

/// The error of a wrong number of arguments.
#[cold]
pub fn wrong_count<H: Heap>(m: &mut Machine<'_, H>, builtin: Builtin, got: usize) -> Halt<H> {
    let row = builtin.row();
    let code = match row.takes {
        Takes::W => "at_least_one",
        _ => "arity",
    };
    let got = make_int(m, got as i64);
    let least = make_int(m, i64::from(row.least));
    let most = make_int(
        m,
        if row.most == MANY {
            -1
        } else {
            i64::from(row.most)
        },
    );
    VmHalt::fault(Fault::of(code, row.name, vec![got, least, most]))
}

/// The error of an argument: `F: arg I expected X, got T`. Its terms are the place, counted from 1, and the argument.
#[cold]
pub fn wrong_argument<H: Heap>(
    m: &mut Machine<'_, H>,
    builtin: Builtin,
    (place, check): (usize, Check),
    argument: H::Term,
) -> Halt<H> {
    refused_argument(m, builtin, (place, check), &[argument])
}

/// The error of an argument, with all arguments behind its place: together they may say what was meant.
#[cold]
pub fn refused_argument<H: Heap>(
    m: &mut Machine<'_, H>,
    builtin: Builtin,
    (place, check): (usize, Check),
    arguments: &[H::Term],
) -> Halt<H> {
    let mut terms = vec![make_int(m, place as i64)];
    terms.extend(arguments);
    VmHalt::fault(Fault::of("argument", builtin.name(), terms).with(word(check)))
}

/// The error of arguments that a built-in cannot take: `F: invalid argument types: T, T`.
#[cold]
pub fn invalid_types<T: Copy>(builtin: Builtin, arguments: &[T]) -> VmHalt<Fault<T>> {
    VmHalt::fault(Fault::of(
        "invalid_types",
        builtin.name(),
        arguments.to_vec(),
    ))
}

/// Another error of a built-in: the code names the message.
#[cold]
pub fn failed<T: Copy>(code: &'static str, builtin: Builtin, terms: &[T]) -> VmHalt<Fault<T>> {
    VmHalt::fault(Fault::of(code, builtin.name(), terms.to_vec()))
}

/// How messages name what was expected.
fn word(check: Check) -> &'static str {
    match check {
        Check::Any => "anything",
        Check::Map => "map",
        Check::Associative => "associative",
        Check::MapOrList => "map or list",
        Check::Seqable => "seqable",
        Check::Callable => "callable",
        Check::Predicate => "predicate",
        Check::Keyfn => "keyfn",
        Check::SortKeyfn => "sort keyfn",
        Check::Integer => "integer",
    }
}

/// Returns whether an argument is what it must be.
pub fn holds<H: Heap>(m: &Machine<'_, H>, check: Check, argument: H::Term) -> bool {
    let class = class(m, argument);
    let is_function = matches!(class, Class::Function | Class::Tool);
    match check {
        Check::Any => true,
        Check::Map => matches!(class, Class::Map | Class::Nil),
        Check::Associative => matches!(class, Class::Map | Class::List | Class::Nil),
        Check::MapOrList => matches!(class, Class::Map | Class::List),
        Check::Seqable => matches!(
            class,
            Class::Nil | Class::List | Class::String | Class::Set | Class::Map
        ),
        Check::Callable => {
            is_function || matches!(class, Class::Keyword | Class::Bool | Class::Special)
        }
        Check::Predicate | Check::Keyfn => {
            is_function
                || matches!(
                    class,
                    Class::Keyword | Class::Set | Class::Bool | Class::Special
                )
        }
        Check::SortKeyfn => {
            is_function
                || matches!(
                    class,
                    Class::Keyword | Class::List | Class::Set | Class::Bool | Class::Special
                )
        }
        Check::Integer => m.heap.small_integer(argument).is_some() || m.heap.limbs(argument) > 0,
    }
}
