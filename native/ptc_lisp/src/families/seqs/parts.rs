//! Parts of a sequence.

use super::super::flow::{flow, Call};
use super::ends::none;
use super::{expect_collection, whole};
use crate::code::{Eval, Halt, Machine};
use crate::table::Builtin;
use crate::values::{class, Class};
use ptc_term::heap::Heap;

/// Returns a number of items: a negative one is 0.
fn at_least_none(count: i64) -> usize {
    usize::try_from(count.max(0)).unwrap_or(usize::MAX)
}

/// `take`, `drop`. A negative number counts from the end.
pub(super) fn take<H: Heap>(
    m: &mut Machine<'_, H>,
    call: Call<'_, H::Term>,
    (count, coll): (H::Term, H::Term),
) -> Eval<H> {
    let Some(count) = whole(m, count)? else {
        return Err(call.refuse());
    };
    if class(m, coll) == Class::Set {
        return Err(call.refuse());
    }
    let takes = call.builtin == Builtin::Take;
    flow(m, &[coll], |m, flow| {
        flow.read(m, call)?;
        let at_start = match usize::try_from(count) {
            Ok(count) => count,
            Err(_) => {
                let from_end = usize::try_from(count.unsigned_abs()).unwrap_or(usize::MAX);
                flow.length(m, call)?.saturating_sub(from_end)
            }
        };
        match takes == (count >= 0) {
            true => {
                flow.keep_first(m, call, at_start)?;
                flow.list(m)
            }
            false => {
                flow.skip(m, call, at_start)?;
                Ok(flow.sources[0])
            }
        }
    })
}

/// `take-last`
pub(super) fn take_last<H: Heap>(
    m: &mut Machine<'_, H>,
    call: Call<'_, H::Term>,
    (count, coll): (H::Term, H::Term),
) -> Eval<H> {
    match class(m, coll) {
        Class::Nil => return Ok(coll),
        Class::List | Class::String | Class::Map => {}
        _ => return Err(call.refuse()),
    }
    let count = match whole(m, count)? {
        None => return Err(call.refuse()),
        Some(..=0) => return Ok(none(m)),
        Some(count) => at_least_none(count),
    };
    flow(m, &[coll], |m, flow| {
        flow.read(m, call)?;
        let length = flow.length(m, call)?;
        flow.skip(m, call, length.saturating_sub(count))?;
        Ok(match length {
            0 => m.heap.nil(),
            _ => flow.sources[0],
        })
    })
}

/// `drop-last`; without a number, of one item.
pub(super) fn drop_last<H: Heap>(
    m: &mut Machine<'_, H>,
    call: Call<'_, H::Term>,
    (count, coll): (Option<H::Term>, H::Term),
) -> Eval<H> {
    match class(m, coll) {
        Class::Nil | Class::List | Class::String | Class::Map => {}
        _ => return Err(call.refuse()),
    }
    let count = match count {
        None => 1,
        Some(count) => match whole(m, count)? {
            Some(count) => at_least_none(count),
            None => return Err(call.refuse()),
        },
    };
    flow(m, &[coll], |m, flow| {
        flow.read(m, call)?;
        if count == 0 {
            return Ok(flow.sources[0]);
        }
        let length = flow.length(m, call)?;
        flow.keep_first(m, call, length.saturating_sub(count))?;
        flow.list(m)
    })
}

/// `nthrest`, `nthnext`
pub(super) fn nth_rest<H: Heap>(
    m: &mut Machine<'_, H>,
    call: Call<'_, H::Term>,
    (coll, count): (H::Term, H::Term),
) -> Eval<H> {
    expect_collection(m, coll)?;
    let Some(count) = whole(m, count)? else {
        return Err(call.refuse());
    };
    flow(m, &[coll], |m, flow| {
        flow.read(m, call)?;
        flow.skip(m, call, at_least_none(count))?;
        let rest = flow.sources[0];
        Ok(match call.builtin {
            Builtin::Nthnext if m.heap.uncons(rest).is_none() => m.heap.nil(),
            _ => rest,
        })
    })
}

/// `split-at`
pub(super) fn split_at<H: Heap>(
    m: &mut Machine<'_, H>,
    call: Call<'_, H::Term>,
    (count, coll): (H::Term, H::Term),
) -> Eval<H> {
    expect_collection(m, coll)?;
    let Some(count) = whole(m, count)? else {
        return Err(call.refuse());
    };
    flow(m, &[coll], |m, flow| {
        flow.read(m, call)?;
        flow.keep_first(m, call, at_least_none(count))?;
        let left = flow.list(m)?;
        Ok(m.make_list(&[left, flow.sources[0]])?)
    })
}

/// `subvec`. The places are kept within the list.
pub(super) fn subvec<H: Heap>(
    m: &mut Machine<'_, H>,
    call: Call<'_, H::Term>,
    (list, start, end): (H::Term, H::Term, Option<H::Term>),
) -> Eval<H> {
    if class(m, list) != Class::List {
        return Err(call.refuse());
    }
    let place = |m: &mut Machine<'_, H>, place: H::Term| -> Result<usize, Halt<H>> {
        match whole(m, place)? {
            Some(place) => Ok(at_least_none(place)),
            None => Err(call.refuse()),
        }
    };
    let start = place(m, start)?;
    let end = match end {
        Some(end) => Some(place(m, end)?),
        None => None,
    };
    flow(m, &[list], |m, flow| {
        if flow.part == 0 {
            flow.skip(m, call, start)?;
            (flow.part, flow.at) = (1, 0);
        }
        match end {
            None => Ok(flow.sources[0]),
            Some(end) => {
                flow.keep_first(m, call, end.saturating_sub(start))?;
                flow.list(m)
            }
        }
    })
}
