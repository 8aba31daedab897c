//! Equality and order.

use super::flow::{flow, Call};
use crate::code::{Eval, Halt, Instr, Machine, Own};
use crate::consts::Word;
use crate::fault::Fault;
use crate::table::Builtin;
use crate::values::{callable, class, is_word, make_int, with_keyword_name, Callable, Class};
use ptc_term::heap::{Heap, Kind};
use ptc_vm::Halt as VmHalt;
use std::cmp::Ordering;

/// Evaluates a built-in of the family.
pub fn eval<H: Heap>(m: &mut Machine<'_, H>, builtin: Builtin, arguments: &[H::Term]) -> Eval<H> {
    if let (Builtin::Compare, &[a, b]) = (builtin, arguments) {
        return match order(m, a, b)? {
            Some(order) => Ok(make_int(m, order as i64)),
            None => Err(Call { builtin, arguments }.refuse()),
        };
    }
    if arguments.is_empty() {
        return Err(at_least_one(m, builtin));
    }
    let equals = matches!(
        builtin,
        Builtin::Equal | Builtin::SameNumber | Builtin::NotEqual
    );
    let holds = match *arguments {
        [a, b] => holds(m, builtin, equals, (a, b))?,
        _ => flow(m, &[], |m, flow| {
            while let Some(&[a, b, ..]) = arguments.get(flow.at..) {
                m.consume_fuel(1)?;
                let a = if equals { arguments[0] } else { a };
                if !holds(m, builtin, equals, (a, b))? {
                    return Ok(false);
                }
                flow.at += 1;
                m.meter.advanced();
            }
            Ok(true)
        })?,
    };
    Ok(m.heap.boolean(holds != (builtin == Builtin::NotEqual)))
}

/// Whether two arguments are equal, or in order.
fn holds<H: Heap>(
    m: &mut Machine<'_, H>,
    builtin: Builtin,
    equals: bool,
    (a, b): (H::Term, H::Term),
) -> Result<bool, Halt<H>> {
    if equals {
        return equal(m, a, b);
    }
    let Some(order) = order(m, a, b)? else {
        return Ok(false);
    };
    Ok(match builtin {
        Builtin::Less => order.is_lt(),
        Builtin::Greater => order.is_gt(),
        Builtin::LessOrEqual => order.is_le(),
        _ => order.is_ge(),
    })
}

#[cold]
fn at_least_one<H: Heap>(m: &mut Machine<'_, H>, builtin: Builtin) -> Halt<H> {
    let counts = [0, 1, -1].map(|count| make_int(m, count));
    VmHalt::fault(Fault::of("at_least_one", builtin.name(), counts.to_vec()))
}

/// Returns whether two values are equal (specification, section 3.2). A long comparison is counted before it is made.
#[inline]
pub fn equal<H: Heap>(m: &mut Machine<'_, H>, a: H::Term, b: H::Term) -> Result<bool, Halt<H>> {
    if let (Some(a), Some(b)) = (m.heap.small_integer(a), m.heap.small_integer(b)) {
        return Ok(a == b);
    }
    match (m.heap.kind(a), m.heap.kind(b)) {
        (Kind::Map | Kind::Other, Kind::Map | Kind::Other) => equal_slowly(m, a, b),
        _ => Ok(m.compare(a, b)?.is_eq()),
    }
}

fn equal_slowly<H: Heap>(m: &mut Machine<'_, H>, a: H::Term, b: H::Term) -> Result<bool, Halt<H>> {
    match (class(m, a), class(m, b)) {
        (Class::Special, Class::Special) if is_word(m, a, Word::NaN) => Ok(false),
        (Class::Keyword, Class::Keyword) if m.heap.kind(a) != m.heap.kind(b) => {
            Ok(same_name(m, a, b))
        }
        (Class::Function, Class::Function) => Ok(match same_function(m, a, b)? {
            Some(same) => same,
            None => m.compare(a, b)?.is_eq(),
        }),
        _ => Ok(m.compare(a, b)?.is_eq()),
    }
}

/// Returns whether an atom and a keyword struct have one name.
fn same_name<H: Heap>(m: &Machine<'_, H>, a: H::Term, b: H::Term) -> bool {
    let same = with_keyword_name(m, a, |name| with_keyword_name(m, b, |other| name == other));
    same.flatten() == Some(true)
}

/// Returns whether two closures have one text and have captured equal values; `None` if one is no closure.
fn same_function<H: Heap>(
    m: &mut Machine<'_, H>,
    a: H::Term,
    b: H::Term,
) -> Result<Option<bool>, Halt<H>> {
    let about = |m: &Machine<'_, H>, function| match callable(m, function) {
        Some(Callable::Closure(entry)) => match m.program().code.get(entry as usize) {
            Some(Instr::Own(Own::Entry { about, .. })) => Some(m.constant(*about)),
            _ => None,
        },
        _ => None,
    };
    let (Some(first), Some(second)) = (about(m, a), about(m, b)) else {
        return Ok(None);
    };
    if !m.compare(first, second)?.is_eq() {
        return Ok(Some(false));
    }
    let captured = |m: &Machine<'_, H>, function| {
        let parts = m.heap.elements(function).unwrap_or_default();
        parts.get(2..).unwrap_or_default().to_vec()
    };
    let (left, right) = (captured(m, a), captured(m, b));
    if left.len() != right.len() {
        return Ok(Some(false));
    }
    for (a, b) in left.into_iter().zip(right) {
        if !m.compare(a, b)?.is_eq() {
            return Ok(Some(false));
        }
    }
    Ok(Some(true))
}

/// Returns the order of two values (section 3.3); `None` if one is NaN. The infinities are less and greater than all others.
#[inline]
pub fn order<H: Heap>(
    m: &mut Machine<'_, H>,
    a: H::Term,
    b: H::Term,
) -> Result<Option<Ordering>, Halt<H>> {
    if let (Some(a), Some(b)) = (m.heap.small_integer(a), m.heap.small_integer(b)) {
        return Ok(Some(a.cmp(&b)));
    }
    let (left, right) = (rank(m, a), rank(m, b));
    match (left, right) {
        (0, 0) => Ok(Some(m.compare(a, b)?)),
        (NAN, _) | (_, NAN) => Ok(None),
        _ => Ok(Some(left.cmp(&right))),
    }
}

/// The rank of NaN, which has no order.
const NAN: i8 = 2;

/// Returns the place of a value among the specials: -1, 0 or 1, or [`NAN`].
fn rank<H: Heap>(m: &Machine<'_, H>, term: H::Term) -> i8 {
    if m.heap.kind(term) != Kind::Other || class(m, term) != Class::Special {
        return 0;
    }
    match (
        is_word(m, term, Word::NaN),
        is_word(m, term, Word::Infinity),
    ) {
        (true, _) => NAN,
        (_, true) => 1,
        _ => -1,
    }
}
