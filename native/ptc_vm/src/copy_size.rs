//! The size of a copy of a term: terms that share subterms are small in memory and huge once they are
//! copied.
//!
//! `x = {"a": x, "b": x}`, repeated thirty times, takes 150 words, and a billion once it is sent, stored
//! or inspected. So do five hundred tails of one list. Only a program that uses one value several times
//! can build such a term ([`Program::multiplies`](crate::program::Program::multiplies), or a constant in
//! a loop). A copy of its result may take as many words as the run may build; or, if that is more, as
//! many as a copy of what the run was given, and a little more: a run can return what it was given, with
//! a few values beside it.

use crate::execute::Execute;
use crate::language::Contained;
use crate::program::{Instr, NO_CONST};
use crate::run::Vm;
use ptc_kernels::Context;
use ptc_term::heap::{words_of_map, Heap, Kind};
use ptc_term::meter::Pace;
use ptc_term::parts;
use ptc_term::stop::Stop;
use ptc_term::weight::{own_words, Weighing};
use std::collections::HashMap;

/// The part of the limit that a copy of a result may take in addition to what was given.
const SPARE: usize = 8;
/// With fewer words built, no loop can have repeated a constant often.
const FEW_WORDS: usize = 128;

impl<H: Heap, L: Execute> Vm<'_, H, L> {
    /// Checks the size of a copy of the run's result.
    pub(super) fn check_copy_limit(&mut self, term: H::Term) -> Result<(), Stop> {
        let limit = self.machine.meter.limits.words;
        match limit < usize::MAX && self.takes_more(term, limit)? {
            true => Err(Stop::MemoryExceeded),
            false => Ok(()),
        }
    }

    /// Returns whether a copy of the term takes more than `limit` words, and more than a copy of what
    /// the run was given.
    pub(super) fn takes_more(&mut self, term: H::Term, limit: usize) -> Result<bool, Stop> {
        let machine = &mut self.machine;
        if !machine.multiplies && !repeats_constants(machine, &self.program.code) {
            return Ok(false);
        }
        if fits(machine, term, limit)? {
            return Ok(false);
        }
        // The limits are not known yet.
        if machine.meter.pace() == Pace::Probe {
            return Ok(true);
        }
        let mut weights = HashMap::new();
        let mut allowed = limit / SPARE;
        for given in [self.context, self.environment]
            .iter()
            .chain(machine.all_constants())
        {
            let words = weigh(machine, *given, usize::MAX, &mut weights)?;
            allowed = allowed.saturating_add(words);
        }
        if allowed <= limit {
            return Ok(true);
        }
        Ok(weigh(machine, term, allowed, &mut weights)? > allowed)
    }
}

/// Returns whether the constants in the result may exceed the limit, if the run has used each word that it has built for them.
fn repeats_constants<H: Heap, L: Execute>(machine: &Context<'_, H>, code: &[Instr<L>]) -> bool {
    let (heap, built) = (&*machine.heap, machine.heap.words_built());
    if built < FEW_WORDS {
        return false;
    }
    let words = |term: &H::Term| match heap.kind(*term) {
        Kind::List | Kind::Map => 0,
        kind => own_words(heap, *term, kind),
    };
    let limit = machine.meter.limits.words;
    let heaviest = machine.all_constants().iter().map(words).max().unwrap_or(0);
    built.saturating_mul(heaviest) > limit && {
        // Most constants are only read, and a key stands in a map, which takes words, too.
        let (value, keys, map) =
            heaviest_in_values(machine, code, words).unwrap_or((heaviest, 0, 1));
        let keys = built.saturating_mul(keys).div_ceil(map);
        built.saturating_mul(1 + value).saturating_add(keys) > limit
    }
}

/// Returns the words of the heaviest constant that is a value, and those of the heaviest keys of a new map, with the words of
/// that map. `None` if any constant may be in a value.
#[cold]
fn heaviest_in_values<H: Heap, L: Execute>(
    machine: &Context<'_, H>,
    code: &[Instr<L>],
    words: impl Fn(&H::Term) -> usize,
) -> Option<(usize, usize, usize)> {
    let (mut value, mut keys, mut map) = (0, 0, 1);
    for instr in code {
        let contained = match instr {
            Instr::Const(id) => Contained::Value(*id),
            Instr::Apply(apply) => L::constants_in(apply),
            _ => Contained::Nothing,
        };
        match contained {
            Contained::Nothing | Contained::Value(NO_CONST) => {}
            Contained::Value(id) => value = value.max(words(&machine.constant(id))),
            // If the map has only some of them, they take no more of its words.
            Contained::Keys(first, count) => {
                let heaviest = machine.constants(first, count).iter().map(&words).max();
                let all = heaviest.unwrap_or(0).saturating_mul(count as usize);
                let of_map = words_of_map(count as usize);
                if all.saturating_mul(map) > keys * of_map {
                    (keys, map) = (all, of_map);
                }
            }
            Contained::Any => return None,
        }
    }
    Some((value, keys, map))
}

/// Returns whether a copy of the term takes at most `most` words.
///
/// Each part counts when it is met, as often as it is met. So the walk is never longer than the copy.
fn fits<H: Heap>(machine: &mut Context<'_, H>, term: H::Term, most: usize) -> Result<bool, Stop> {
    let mut weighing = Weighing::new([term], 0, most);
    loop {
        let (heap, meter) = machine.heap_and_meter();
        match weighing.step(heap, meter) {
            Ok(true) => {}
            Ok(false) => return Ok(true),
            Err(Stop::MemoryExceeded) if weighing.words() > most => return Ok(false),
            Err(stop) => return Err(stop),
        }
    }
}

/// A list, map or tuple that is being weighed.
struct OpenTerm<T> {
    identity: usize,
    parts: Vec<T>,
    words: usize,
}

/// Returns the words of a copy of the term, or more than `most` once they are known to be more.
/// `weights` has the words of the lists, maps and tuples that were weighed before. So a term that
/// shares its parts is weighed as quickly as it stands in memory, except for tails of lists.
fn weigh<H: Heap>(
    machine: &mut Context<'_, H>,
    term: H::Term,
    most: usize,
    weights: &mut HashMap<usize, usize>,
) -> Result<usize, Stop> {
    let mut open: Vec<OpenTerm<H::Term>> = Vec::new();
    let mut next = Some(term);
    let (mut weight, mut total) = (0_usize, 0_usize);
    loop {
        if let Some(term) = next.take() {
            machine.consume_fuel(1)?;
            let kind = machine.heap.kind(term);
            let identity = machine.heap.identity(term);
            let known = match kind {
                Kind::List | Kind::Map | Kind::Other => weights.get(&identity).copied(),
                Kind::Nil | Kind::Bool | Kind::Number | Kind::String => None,
            };
            if let Some(known) = known {
                weight = known;
            } else if let Some((parts, words)) = parts(machine, term, kind)? {
                total = total.saturating_add(words);
                open.push(OpenTerm {
                    identity,
                    parts,
                    words,
                });
            } else {
                weight = own_words(machine.heap, term, kind);
            }
            total = total.saturating_add(weight);
            if total > most {
                return Ok(total);
            }
        }
        // `weight` is the weight of the last part of the innermost open term.
        let Some(innermost) = open.last_mut() else {
            return Ok(weight);
        };
        innermost.words = innermost.words.saturating_add(std::mem::take(&mut weight));
        next = innermost.parts.pop();
        if next.is_none() {
            if let Some(done) = open.pop() {
                weights.insert(done.identity, done.words);
                weight = done.words;
            }
        }
    }
}

/// The parts of a term, and its words without them.
type Parts<T> = (Vec<T>, usize);

/// Returns the parts of a list, a map (keys included) or a tuple; `None` for everything else.
fn parts<H: Heap>(
    machine: &mut Context<'_, H>,
    term: H::Term,
    kind: Kind,
) -> Result<Option<Parts<H::Term>>, Stop> {
    let (heap, meter) = machine.heap_and_meter();
    let (mut parts, mut rest) = (Vec::new(), term);
    while let Some((item, tail)) = heap.uncons(rest) {
        meter.consume_fuel(1, heap)?;
        parts.push(item);
        rest = tail;
    }
    if kind == Kind::List {
        let own = 2 * parts.len();
        // The tail of an improper list is one more part.
        parts.extend((!heap.is_empty_list(rest)).then_some(rest));
        return Ok(Some((parts, own)));
    }
    match parts::Parts::of(heap, term, kind, |parts| meter.consume_fuel(parts, heap))? {
        parts::Parts::None | parts::Parts::Unknown => return Ok(None),
        open => open.each(|part| parts.push(part)),
    }
    Ok(Some((parts, own_words(heap, term, kind))))
}
