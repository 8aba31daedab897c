//! Which state a built-in begins with, after the checks of its arguments.

use super::each::Each;
use super::entries::Entries;
use super::fold::Fold;
use super::function::{FunctionLike, StandIns, FUNCTIONS, KEYFN, KEYS};
use super::merging::Merging;
use super::several::Several;
use super::sort::Sort;
use super::thunks::Thunks;
use super::tree::Tree;
use super::update::Update;
use super::walk::Walk;
use super::workers::Workers;
use super::CallsWork;
use crate::code::{Entering, Halt, Machine};
use crate::consts::{EMPTY_LIST, EMPTY_MAP};
use crate::exec::checks::{failed, holds, refused_argument};
use crate::families::flow::Call;
use crate::families::seqs;
use crate::fault::Fault;
use crate::table::{Builtin, Check};
use crate::values::{class, is_named, make_int, Class};
use ptc_term::heap::Heap;
use ptc_vm::{Entered, Halt as VmHalt};

type Begun<H> = Result<CallsWork<<H as Heap>::Term>, Halt<H>>;

impl<T: Copy> Call<'_, T> {
    /// Fails unless the argument at this place, counted from 1, is what it must be.
    fn require<H: Heap<Term = T>>(
        self,
        m: &mut Machine<'_, H>,
        place: usize,
        check: Check,
    ) -> Result<(), Halt<H>> {
        match holds(m, check, self.arguments[place - 1]) {
            true => Ok(()),
            false => Err(refused_argument(
                m,
                self.builtin,
                (place, check),
                self.arguments,
            )),
        }
    }

    /// Fails unless there are so many arguments.
    fn at_least<H: Heap<Term = T>>(
        self,
        m: &mut Machine<'_, H>,
        least: usize,
    ) -> Result<(), Halt<H>> {
        let got = self.arguments.len();
        if got >= least {
            return Ok(());
        }
        let terms = [got as i64, least as i64].map(|count| make_int(m, count));
        let fault = Fault::of("at_least", self.builtin.name(), terms.to_vec());
        Err(VmHalt::fault(fault))
    }
}

/// Begins a built-in, after the checks of its arguments.
pub fn start<H: Heap>(
    m: &mut Machine<'_, H>,
    builtin: Builtin,
    arguments: &[H::Term],
) -> Entering<H> {
    let call = Call { builtin, arguments };
    if let Some(value) = without_a_call(m, call)? {
        return Ok(Entered::Value(value));
    }
    begin(m, call).map(|work| Entered::BuiltIn(work.into()))
}

/// Returns the value of a call that calls nothing.
fn without_a_call<H: Heap>(
    m: &mut Machine<'_, H>,
    call: Call<'_, H::Term>,
) -> Result<Option<H::Term>, Halt<H>> {
    Ok(match (call.builtin, call.arguments) {
        (Builtin::GroupBy, &[_, coll]) if class(m, coll) == Class::Nil => {
            Some(m.constant(EMPTY_MAP))
        }
        (Builtin::DistinctBy, &[_, coll]) if class(m, coll) == Class::Nil => {
            Some(m.constant(EMPTY_LIST))
        }
        (Builtin::SumBy, &[_, coll]) if class(m, coll) == Class::Nil => Some(make_int(m, 0)),
        (Builtin::AvgBy, &[_, coll]) if class(m, coll) == Class::Nil => Some(coll),
        (Builtin::MinKey | Builtin::MaxKey, &[_, item]) => Some(item),
        (Builtin::UpdateVals | Builtin::UpdateKeys, &[map, _]) if class(m, map) == Class::Nil => {
            Some(map)
        }
        (Builtin::ReduceKv, &[_, initial, map]) if class(m, map) == Class::Nil => Some(initial),
        _ => None,
    })
}

fn begin<H: Heap>(m: &mut Machine<'_, H>, call: Call<'_, H::Term>) -> Begun<H> {
    let Call { builtin, arguments } = call;
    match (builtin, arguments) {
        (Builtin::Map | Builtin::Mapv, &[f, ref colls @ ..]) if colls.len() > 1 => {
            call.require(m, 1, Check::Callable)?;
            let function = FunctionLike::of(m, f, maps_and(KEYFN))?;
            Ok(CallsWork::Several(Several::over(builtin, function, colls)))
        }
        (Builtin::Pmap, &[f, ref colls @ ..]) if !colls.is_empty() => pmap(m, call, f, colls),
        (Builtin::Pcalls, functions) => {
            for function in functions {
                require_thunk(m, *function)?;
            }
            match has_workers(m) && !functions.is_empty() {
                true => Ok(CallsWork::Workers(Workers::of_thunks(functions))),
                false => Ok(CallsWork::Thunks(Thunks::of(functions))),
            }
        }
        (Builtin::MapIndexed | Builtin::KeepIndexed, &[f, coll]) => {
            let function = FunctionLike::of(m, f, maps_and(FUNCTIONS))?;
            Ok(CallsWork::Each(Each::over(builtin, function, coll)))
        }
        (
            Builtin::GroupBy | Builtin::DistinctBy | Builtin::SumBy | Builtin::AvgBy,
            &[key, coll],
        ) => {
            if !matches!(class(m, coll), Class::List | Class::Set | Class::Map) {
                return Err(call.refuse());
            }
            keyed(m, call, key, coll)
        }
        (Builtin::MinBy | Builtin::MaxBy, arguments) => {
            call.at_least(m, 2)?;
            let (key, items) = (arguments[0], &arguments[1..]);
            let is_coll = items.len() == 1
                && matches!(class(m, items[0]), Class::List | Class::Set | Class::Map);
            let coll = match is_coll {
                true => items[0],
                false => m.make_list(items)?,
            };
            keyed(m, call, key, coll)
        }
        (Builtin::MinKey | Builtin::MaxKey, arguments) => {
            if arguments.len() < 2 {
                return Err(failed("key_count", builtin, &[]));
            }
            let function = FunctionLike::of(m, arguments[0], KEYFN)?;
            let coll = m.make_list(&arguments[1..])?;
            Ok(CallsWork::Each(Each::over(
                builtin,
                function.lenient(true),
                coll,
            )))
        }
        (Builtin::Reduce, &[f, coll]) => {
            call.require(m, 2, Check::Seqable)?;
            fold(m, call, f, (None, coll))
        }
        (Builtin::Reduce | Builtin::ReduceKv, &[f, initial, coll]) => {
            fold(m, call, f, (Some(initial), coll))
        }
        (Builtin::Sort, &[coll]) => {
            call.require(m, 1, Check::Seqable)?;
            sort(m, call, None, coll)
        }
        (Builtin::Sort, &[comparator, coll]) => {
            call.require(m, 1, Check::Callable)?;
            call.require(m, 2, Check::Seqable)?;
            sort(m, call, Some(comparator), coll)
        }
        (Builtin::SortBy, &[key, coll]) => {
            call.require(m, 2, Check::Seqable)?;
            sort_by(m, builtin, key, (None, coll))
        }
        (Builtin::SortBy, &[key, comparator, coll]) => {
            call.require(m, 2, Check::Callable)?;
            call.require(m, 3, Check::Seqable)?;
            sort_by(m, builtin, key, (Some(comparator), coll))
        }
        (Builtin::TreeSeq, &[branch, children, root]) => {
            let branch = FunctionLike::of(m, branch, maps_and(KEYFN))?.lenient(true);
            let children = FunctionLike::of(m, children, maps_and(KEYFN))?.lenient(true);
            Ok(CallsWork::Tree(Tree::of((branch, children), root)))
        }
        (Builtin::Walk, &[inner, outer, form]) => {
            let inner = FunctionLike::of(m, inner, maps_and(KEYFN))?.lenient(true);
            let outer = FunctionLike::of(m, outer, maps_and(KEYFN))?.lenient(true);
            Ok(CallsWork::Walk(Walk::of(
                builtin,
                (inner, Some(outer)),
                form,
            )))
        }
        (Builtin::Prewalk | Builtin::Postwalk, &[f, form]) => {
            let function = FunctionLike::of(m, f, maps_and(KEYFN))?.lenient(true);
            Ok(CallsWork::Walk(Walk::of(builtin, (function, None), form)))
        }
        (Builtin::Update | Builtin::UpdateIn, arguments) => update(m, call, arguments),
        (Builtin::UpdateVals | Builtin::UpdateKeys, &[map, f]) => {
            let function = FunctionLike::of(m, f, KEYFN)?.lenient(true);
            Ok(CallsWork::Entries(Entries::of(builtin, function, map)))
        }
        (Builtin::MergeWith, arguments) => {
            call.at_least(m, 1)?;
            call.require(m, 1, Check::Callable)?;
            for place in 2..=arguments.len() {
                call.require(m, place, Check::Map)?;
            }
            let function = FunctionLike::of(m, arguments[0], KEYFN)?;
            Ok(CallsWork::Merging(Merging::of(function, &arguments[1..])))
        }
        (_, &[f, coll]) => each(m, call, f, coll),
        _ => Err(call.refuse()),
    }
}

/// Whether the calls of a parallel form are runs of their own. Others are made in this run, which costs less.
fn has_workers<H: Heap>(m: &Machine<'_, H>) -> bool {
    m.forks && m.program().language.has_workers
}

/// `pmap` takes what `map` takes; its errors are its own.
fn pmap<H: Heap>(
    m: &mut Machine<'_, H>,
    call: Call<'_, H::Term>,
    f: H::Term,
    colls: &[H::Term],
) -> Begun<H> {
    let by_key = class(m, f) == Class::Keyword;
    if by_key && colls.len() == 1 && class(m, colls[0]) == Class::Map {
        return Err(failed("pmap_of_map", call.builtin, &[]));
    }
    let function = FunctionLike::of(m, f, maps_and(KEYFN))?;
    if class(m, f) == Class::Nil || !function.is_some() {
        return Err(failed("pmap_function", call.builtin, &[f]));
    }
    if let Some(coll) = colls.iter().find(|it| !holds(m, Check::Seqable, **it)) {
        return Err(failed("pmap_collection", call.builtin, &[*coll]));
    }
    if has_workers(m) && function.is_called() {
        return Ok(CallsWork::Workers(Workers::over(f, colls)));
    }
    match *colls {
        [coll] => each(m, call, f, coll),
        _ => Ok(CallsWork::Several(Several::over(
            call.builtin,
            function,
            colls,
        ))),
    }
}

/// Fails unless this is a function without parameters.
fn require_thunk<H: Heap>(m: &mut Machine<'_, H>, function: H::Term) -> Result<(), Halt<H>> {
    let thunk = FunctionLike::of(m, function, FUNCTIONS)?;
    let least = match thunk.built_in() {
        Some(builtin) => Some(builtin.row().least).filter(|least| *least > 0),
        None => thunk.refuses_count(0),
    };
    match least {
        _ if !thunk.is_some() => Err(failed("thunk", Builtin::Pcalls, &[function])),
        Some(params) => {
            let params = make_int(m, i64::from(params));
            Err(failed("thunk_arity", Builtin::Pcalls, &[params]))
        }
        None => Ok(()),
    }
}

/// Returns the stand-ins `takes`, and maps.
fn maps_and(takes: StandIns) -> StandIns {
    StandIns {
        maps: true,
        ..takes
    }
}

/// A built-in that applies a predicate, or another function, to each item.
fn each<H: Heap>(
    m: &mut Machine<'_, H>,
    call: Call<'_, H::Term>,
    f: H::Term,
    coll: H::Term,
) -> Begun<H> {
    let refuses_lists = matches!(
        call.builtin,
        Builtin::IsNotAny | Builtin::IsNotEvery | Builtin::SplitWith | Builtin::PartitionBy
    );
    if refuses_lists && class(m, f) == Class::List {
        return Err(match holds(m, Check::Seqable, coll) {
            true => call.refuse(),
            false => seqs::not_a_collection(coll),
        });
    }
    // These look up a keyword in the letters of a text, and find nothing.
    let looks_in_texts = matches!(
        call.builtin,
        Builtin::Map
            | Builtin::Mapv
            | Builtin::Pmap
            | Builtin::Mapcat
            | Builtin::Filter
            | Builtin::Filterv
            | Builtin::Remove
            | Builtin::Keep
            | Builtin::SplitWith
            | Builtin::PartitionBy
    );
    let lenient = looks_in_texts && class(m, coll) == Class::String;
    let function = FunctionLike::of(m, f, KEYFN)?.lenient(lenient);
    Ok(CallsWork::Each(Each::over(call.builtin, function, coll)))
}

/// A built-in with a key for each item.
fn keyed<H: Heap>(
    m: &mut Machine<'_, H>,
    call: Call<'_, H::Term>,
    key: H::Term,
    coll: H::Term,
) -> Begun<H> {
    let lenient = matches!(class(m, key), Class::Keyword | Class::List);
    let function = FunctionLike::of(m, key, KEYS)?.lenient(lenient);
    match function.is_some() {
        true => Ok(CallsWork::Each(Each::over(call.builtin, function, coll))),
        false => Err(call.refuse()),
    }
}

fn fold<H: Heap>(
    m: &mut Machine<'_, H>,
    call: Call<'_, H::Term>,
    f: H::Term,
    of: (Option<H::Term>, H::Term),
) -> Begun<H> {
    let function = FunctionLike::of(m, f, FUNCTIONS)?;
    Ok(CallsWork::Fold(Fold::over(call.builtin, function, of)))
}

fn sort<H: Heap>(
    m: &mut Machine<'_, H>,
    call: Call<'_, H::Term>,
    comparator: Option<H::Term>,
    coll: H::Term,
) -> Begun<H> {
    let is_function = comparator.is_some_and(|it| !is_direction(m, it));
    match class(m, coll) {
        Class::Set => Err(failed("unordered_set", call.builtin, &[coll])),
        Class::Map if is_function => Err(call.refuse()),
        _ => Ok(CallsWork::Sort(Sort::of(m, comparator, coll)?)),
    }
}

fn sort_by<H: Heap>(
    m: &mut Machine<'_, H>,
    builtin: Builtin,
    key: H::Term,
    (comparator, coll): (Option<H::Term>, H::Term),
) -> Begun<H> {
    let function = FunctionLike::of(m, key, KEYS)?;
    // A comparator that is none fails before a key is computed.
    Sort::<H::Term>::check_comparator(m, builtin, comparator)?;
    let mut each = Each::over(builtin, function, coll);
    each.comparator = comparator;
    Ok(CallsWork::Each(each))
}

fn is_direction<H: Heap>(m: &Machine<'_, H>, comparator: H::Term) -> bool {
    is_named(m, comparator, b"asc") || is_named(m, comparator, b"desc")
}

fn update<H: Heap>(
    m: &mut Machine<'_, H>,
    call: Call<'_, H::Term>,
    arguments: &[H::Term],
) -> Begun<H> {
    let is_deep = call.builtin == Builtin::UpdateIn;
    let &[coll, at, f, ref others @ ..] = arguments else {
        return Err(call.refuse());
    };
    match class(m, coll) {
        Class::Map | Class::List => {}
        Class::Nil if is_deep => {}
        _ if is_deep => return Err(call.refuse()),
        _ => {
            let check = (1, Check::MapOrList);
            return Err(refused_argument(m, call.builtin, check, arguments));
        }
    }
    if is_deep && !matches!(class(m, at), Class::List | Class::Nil) {
        return Err(call.refuse());
    }
    call.require(m, 3, Check::Callable)?;
    let function = FunctionLike::of(m, f, KEYFN)?.lenient(true);
    let parts = (coll, at, others);
    Ok(CallsWork::Update(Update::of(call.builtin, function, parts)))
}
