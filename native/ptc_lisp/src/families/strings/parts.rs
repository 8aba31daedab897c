//! Parts of texts between two indices.

use super::places::{both, index_of, length, Index};
use super::{scanned, string};
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
        _ => return Ok(m.make_part(text, 0, 0)?),
    };
    let end = (range.len() > 1).then_some(end);
    let length = m.heap.byte_length(text).unwrap_or(0);
    scanned(m, length, |m, scan| {
        let [(start, _), (end, _)] = both(m, text, (start, end), scan)?;
        Ok(m.make_part(text, start, end)?)
    })
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
        let length = length(m, text)?;
        return Err(outside(m, start, length, "start"));
    };
    if let Some(end) = end.filter(|end| *end < start) {
        let terms = [start, end].map(|index| make_int(m, index));
        return Err(failed("substring_order", Builtin::MethodSubstring, &terms));
    }
    let last = end.map(|end| end as usize);
    let length = m.heap.byte_length(text).unwrap_or(0);
    scanned(m, length, |m, scan| {
        let [from, to] = both(m, text, (first, last), scan)?;
        match (from, to, end) {
            ((from, 0), (to, 0), _) => Ok(m.make_part(text, from, to)?),
            (_, (_, missing), Some(end)) => {
                let length = (end as usize).saturating_sub(missing);
                Err(outside(m, end, length, "end"))
            }
            ((_, missing), _, None) => Err(outside(m, start, first - missing, "start")),
        }
    })
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

/// The error of an index that is not in a text of so many graphemes.
fn outside<H: Heap>(
    m: &mut Machine<'_, H>,
    index: i64,
    length: usize,
    what: &'static str,
) -> Halt<H> {
    let terms = [index, length as i64].map(|value| make_int(m, value));
    let fault = Fault::of("substring_range", ".substring", terms.to_vec());
    VmHalt::fault(fault.with(what))
}
