//! Sequences.
//!
//! * `ends`: single items, and what is left without them: `first`, `rest`, `nth`, …
//! * `parts`: parts of a sequence: `take`, `drop`, `split-at`, `subvec`, …
//! * `chunks`: `partition`, `partition-all`
//! * `join`: one list of several: `concat`, `into`, `interleave`, …
//! * `arrange`: the items in another order or depth, or not all of them: `reverse`, `flatten`, `distinct`, …
//! * `counts`: `count`, `frequencies`, `sum`, …
//! * `make`: `range`, `combinations`
//! * `members`: `contains?`, `find`, `replace`

mod arrange;
mod chunks;
mod counts;
mod ends;
mod join;
mod make;
mod members;
mod parts;

pub(super) use join::pair_of;
pub use make::take_of_endless;

use super::flow::{flow, Call};
use crate::code::{Eval, Halt, Machine};
use crate::consts::{EMPTY_LIST, EMPTY_MAP, EMPTY_SET};
use crate::fault::Fault;
use crate::table::Builtin;
use crate::values::{class, Class};
use ptc_term::heap::Heap;
use ptc_vm::Halt as VmHalt;

/// Evaluates a built-in of the family.
pub fn eval<H: Heap>(m: &mut Machine<'_, H>, builtin: Builtin, arguments: &[H::Term]) -> Eval<H> {
    let call = Call { builtin, arguments };
    match (builtin, arguments) {
        (Builtin::First | Builtin::Second, &[coll]) => ends::early(m, call, coll),
        (Builtin::Last | Builtin::Peek, &[coll]) => ends::last(m, call, coll),
        (Builtin::Rest | Builtin::Next, &[coll]) => ends::rest(m, call, coll),
        (Builtin::Butlast | Builtin::Pop, &[coll]) => ends::but_last(m, call, coll),
        (Builtin::Ffirst | Builtin::Nfirst, &[coll]) => ends::of_first(m, call, coll),
        (Builtin::Fnext | Builtin::Nnext, &[coll]) => ends::of_next(m, call, coll),
        (Builtin::Nth, &[coll, index]) => ends::nth(m, call, (coll, index, m.heap.nil())),
        (Builtin::Nth, &[coll, index, default]) => ends::nth(m, call, (coll, index, default)),
        (Builtin::Take | Builtin::Drop, &[count, coll]) => parts::take(m, call, (count, coll)),
        (Builtin::TakeLast, &[count, coll]) => parts::take_last(m, call, (count, coll)),
        (Builtin::DropLast, &[coll]) => parts::drop_last(m, call, (None, coll)),
        (Builtin::DropLast, &[count, coll]) => parts::drop_last(m, call, (Some(count), coll)),
        (Builtin::Nthrest | Builtin::Nthnext, &[coll, count]) => {
            parts::nth_rest(m, call, (coll, count))
        }
        (Builtin::SplitAt, &[count, coll]) => parts::split_at(m, call, (count, coll)),
        (Builtin::Subvec, &[list, start]) => parts::subvec(m, call, (list, start, None)),
        (Builtin::Subvec, &[list, start, end]) => parts::subvec(m, call, (list, start, Some(end))),
        (Builtin::Partition | Builtin::PartitionAll, &[size, coll]) => {
            chunks::partition(m, call, (size, size, None, coll))
        }
        (Builtin::Partition | Builtin::PartitionAll, &[size, step, coll]) => {
            chunks::partition(m, call, (size, step, None, coll))
        }
        (Builtin::Partition, &[size, step, pad, coll]) => {
            chunks::partition(m, call, (size, step, Some(pad), coll))
        }
        (Builtin::Cons, &[item, coll]) => join::cons(m, call, (item, coll)),
        (Builtin::Conj, given) => join::conj(m, call, given),
        (Builtin::Concat, given) => join::concat(m, call, given),
        (Builtin::Into, &[to, from]) => join::into(m, call, (to, from)),
        (Builtin::Interleave, given) => join::interleave(m, call, given),
        (Builtin::Interpose, &[separator, coll]) => join::interpose(m, call, (separator, coll)),
        (Builtin::Zip, &[a, b]) => join::zip(m, call, (a, b)),
        (Builtin::Empty, &[coll]) => empty(m, call, coll),
        (Builtin::IsEmpty, &[coll]) => {
            let empty = is_empty(m, call, coll)?;
            Ok(m.heap.boolean(empty))
        }
        (Builtin::NotEmpty, &[coll]) => Ok(match is_empty(m, call, coll)? {
            true => m.heap.nil(),
            false => coll,
        }),
        (Builtin::Seq, &[coll]) => match is_empty(m, call, coll)? {
            true => Ok(m.heap.nil()),
            false => items(m, coll),
        },
        (Builtin::Vec, &[coll]) => match class(m, coll) {
            Class::Nil => Ok(coll),
            Class::List | Class::String | Class::Map | Class::Set => items(m, coll),
            _ => Err(call.refuse()),
        },
        (Builtin::Vector | Builtin::List, given) => Ok(m.make_list(given)?),
        (Builtin::Count, &[coll]) => counts::count(m, call, coll),
        (Builtin::Frequencies, &[coll]) => counts::frequencies(m, call, coll),
        (Builtin::Sum | Builtin::Avg, &[coll]) => counts::sum(m, call, coll),
        (Builtin::Reverse, &[coll]) => arrange::reverse(m, call, coll),
        (Builtin::Distinct, &[coll]) => arrange::distinct(m, call, coll),
        (Builtin::Dedupe, &[coll]) => arrange::dedupe(m, call, coll),
        (Builtin::Flatten, &[coll]) => arrange::flatten(m, call, coll),
        (Builtin::IsDistinct, given) => arrange::is_distinct(m, call, given),
        (Builtin::Range, given) => make::range(m, call, given),
        (Builtin::Combinations, &[coll, size]) => make::combinations(m, call, (coll, size)),
        (Builtin::IsContains, &[coll, key]) => members::contains(m, call, (coll, key)),
        (Builtin::Find, &[coll, key]) => members::find(m, call, (coll, key)),
        (Builtin::Replace, &[by, coll]) => members::replace(m, call, (by, coll)),
        (Builtin::Replace, given) => super::strings::eval(m, builtin, given),
        _ => Err(call.refuse()),
    }
}

/// Returns the items of a sequence as a list: those of a set, the pairs of a map, the graphemes of a text; of nil, none.
/// Can be suspended and resumed.
pub fn items<H: Heap>(m: &mut Machine<'_, H>, coll: H::Term) -> Eval<H> {
    match class(m, coll) {
        Class::List => return Ok(coll),
        Class::Nil => return Ok(m.constant(EMPTY_LIST)),
        Class::Map | Class::Set | Class::String => {}
        _ => return Err(not_a_collection(coll)),
    }
    let call = Call {
        builtin: Builtin::Seq,
        arguments: &[coll],
    };
    flow(m, &[coll], |m, flow| {
        flow.read(m, call)?;
        Ok(flow.sources[0])
    })
}

/// The error of a value that is no sequence.
#[cold]
pub fn not_a_collection<T>(value: T) -> VmHalt<Fault<T>> {
    VmHalt::fault(Fault::of("not_a_collection", "seq", vec![value]))
}

/// Fails unless the value is a sequence.
fn expect_collection<H: Heap>(m: &Machine<'_, H>, value: H::Term) -> Result<(), Halt<H>> {
    match class(m, value) {
        Class::Nil | Class::List | Class::String | Class::Set | Class::Map => Ok(()),
        _ => Err(not_a_collection(value)),
    }
}

/// Returns an integer, the nearest of 64 bits; `None` for a value that is none.
fn whole<H: Heap>(m: &mut Machine<'_, H>, term: H::Term) -> Result<Option<i64>, Halt<H>> {
    use ptc_term::number::Number;
    if let Some(small) = m.heap.small_integer(term) {
        return Ok(Some(small));
    }
    if m.heap.limbs(term) == 0 {
        return Ok(None);
    }
    Ok(match m.number(term)? {
        Some(Number::Int(value)) => Some(value),
        Some(Number::Big(value)) => Some(match value.sign() {
            num_bigint::Sign::Minus => i64::MIN,
            _ => i64::MAX,
        }),
        _ => None,
    })
}

fn empty<H: Heap>(m: &mut Machine<'_, H>, call: Call<'_, H::Term>, coll: H::Term) -> Eval<H> {
    Ok(match class(m, coll) {
        Class::Nil => coll,
        Class::List => m.constant(EMPTY_LIST),
        Class::Map | Class::Keyword => m.constant(EMPTY_MAP),
        Class::Set => m.constant(EMPTY_SET),
        Class::String => m.heap.make_string(b""),
        _ => return Err(call.refuse()),
    })
}

fn is_empty<H: Heap>(
    m: &Machine<'_, H>,
    call: Call<'_, H::Term>,
    coll: H::Term,
) -> Result<bool, Halt<H>> {
    Ok(match class(m, coll) {
        Class::Nil => true,
        Class::List => m.heap.uncons(coll).is_none(),
        Class::Map => m.heap.map_size(coll) == Some(0),
        Class::Set => m.heap.map_size(crate::values::items_of_set(m, coll)) == Some(0),
        Class::String => m.heap.byte_length(coll) == Some(0),
        _ => return Err(call.refuse()),
    })
}
