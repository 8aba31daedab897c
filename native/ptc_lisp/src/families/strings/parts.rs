//! Parts of texts between two indices.

use super::places::{both, index_of, length, Index};
use super::{make_part, string};
use crate::code::{Eval, Halt, Machine};
use crate::exec::checks::{failed, invalid_types};
use crate::fault::Fault;
use crate::table::Builtin;
use crate::values::make_int;
use ptc_term::heap::Heap;
use ptc_term::number::Number;
use ptc_vm::Halt as VmHalt;

/// `subs`: the part from an index on, up to another one; what is beyond the text is cut.
pub(super) fn subs<H: Heap>(
    m: &mut Machine<'_, H>,
    arguments: &[H::Term],
    text: H::Term,
    range: &[H::Term],
) -> Eval<H> {
    let wrong = || invalid_types(Builtin::Subs, arguments);
    let text = string(m, text)?.ok_or_else(wrong)?;
    let mut indices = [Index::At(0), Index::At(usize::MAX)];
    for (index, given) in indices.iter_mut().zip(range) {
        *index = index_of(m, *given)?.ok_or_else(wrong)?;
    }
    let (start, end) = match indices {
        [Index::At(start), Index::At(end)] if end >= start => (start, end),
        _ => return make_part(m, text, 0, 0),
    };
    let end = (range.len() > 1).then_some(end);
    let [(start, _), (end, _)] = both(m, text, start, end)?;
    make_part(m, text, start, end)
}

/// `.substring`: the same, but both indices must be in the text.
pub(super) fn substring<H: Heap>(
    m: &mut Machine<'_, H>,
    text: H::Term,
    range: &[H::Term],
) -> Eval<H> {
    let start = whole(m, range[0], "start")?;
    let end = match range.get(1) {
        Some(end) => Some(whole(m, *end, "end")?),
        None => None,
    };
    let Ok(first) = usize::try_from(start) else {
        return Err(outside(m, text, start, "start")?);
    };
    if let Some(end) = end.filter(|end| *end < start) {
        let terms = [start, end].map(|index| make_int(m, index));
        return Err(failed("substring_order", Builtin::MethodSubstring, &terms));
    }
    let last = end.map(|end| end as usize);
    let [from, to] = both(m, text, first, last)?;
    match (from, to) {
        ((from, 0), (to, 0)) => make_part(m, text, from, to),
        (_, (_, 1..)) => Err(outside(m, text, end.unwrap_or(start), "end")?),
        _ => match end {
            Some(end) => Err(outside(m, text, end, "end")?),
            None => Err(outside(m, text, start, "start")?),
        },
    }
}

/// Returns an index that is given as a number: a float is truncated.
fn whole<H: Heap>(
    m: &mut Machine<'_, H>,
    term: H::Term,
    what: &'static str,
) -> Result<i64, Halt<H>> {
    Ok(match m.number(term)? {
        Some(Number::Int(value)) => value,
        // Beyond 64 bits an index is out of range, whatever it is.
        Some(Number::Float(value)) => value as i64,
        Some(number) if number.is_negative() => i64::MIN,
        Some(_) => i64::MAX,
        None => {
            let fault = Fault::of("method_number", ".substring", vec![term]);
            return Err(VmHalt::fault(fault.with(what)));
        }
    })
}

/// The error of an index that is not in the text.
fn outside<H: Heap>(
    m: &mut Machine<'_, H>,
    text: H::Term,
    index: i64,
    what: &'static str,
) -> Result<Halt<H>, Halt<H>> {
    let length = length(m, text)?;
    let terms = [index, length as i64].map(|value| make_int(m, value));
    let fault = Fault::of("substring_range", ".substring", terms.to_vec());
    Ok(VmHalt::fault(fault.with(what)))
}
