//! What a run takes along when it moves to another process: terms that the rest of its program cannot read are removed.

use crate::language::Language;
use crate::live::live_at;
use crate::program::{ConstId, Program};
use crate::state::State;
use ptc_term::heap::{Heap, Lookup};

/// A map is kept whole if the program reads more keys than this.
const MOST_KEYS: usize = 64;
/// Maximum number of remaining rounds that are counted.
const MOST_ROUNDS: usize = 16_384;

/// The terms of a suspended run: its state, and what it reads besides.
pub struct RunTerms<'r, L: Language, T> {
    /// The state.
    pub state: &'r mut State<L, T>,
    /// The constants of the program.
    pub consts: &'r [T],
    /// The context.
    pub context: &'r mut T,
    /// The environment, which is a memory: no run of another language is moved.
    pub environment: &'r mut T,
}

/// Cost of a call by message beyond a function call, in words weighed and copied.
const WORDS_A_CALL: usize = 256;

/// Maximum words of a copy; the heap limit applies too.
const MOST_WORDS: usize = 4_000_000;

/// A run that is sent to a process that already has the data of tools may take this part of the heap limit:
/// the message arrives before the limit of the process is raised.
const PART_OF_LIMIT: usize = 4;

/// Removes the terms that the rest of the program cannot read. Returns the maximum words of a copy of the others for which the
/// run moves. `calls`: the calls that it has made; `limit`: its heap limit in words.
pub fn most_words<H: Heap, L: Language>(
    heap: &mut H,
    program: &Program<L>,
    run: RunTerms<'_, L, H::Term>,
    (calls, limit): (usize, usize),
) -> usize {
    let most = match calls {
        1 => limit,
        _ => limit / PART_OF_LIMIT,
    };
    let most = most.min(MOST_WORDS);
    let calls = calls + reduce(heap, program, run, most);
    WORDS_A_CALL.saturating_mul(calls).min(most)
}

/// Removes the terms that the rest of the program cannot read. Returns the number of calls that the remaining rounds of the
/// innermost loop are certain to make. `most`: a list of which only the length counts is replaced if it is not longer.
pub fn reduce<H: Heap, L: Language>(
    heap: &mut H,
    program: &Program<L>,
    run: RunTerms<'_, L, H::Term>,
    most: usize,
) -> usize {
    let Some(live) = live_at(program, run.state.pc()) else {
        return 0;
    };
    // The empty list is a proper list, as is the list of every loop in such a run.
    let nothing = heap.make_list(&[]);
    run.state.clear_slots(|slot| live.slot(slot), nothing);
    *run.context = only(heap, run.consts, *run.context, &live.context);
    *run.environment = only(heap, run.consts, *run.environment, &live.memory);
    let (Some(around), Some(rest)) = (live.around, run.state.remaining_items()) else {
        return 0;
    };
    let calls = match around.calls_each_round {
        true => length(heap, *rest, MOST_ROUNDS),
        false => 0,
    };
    if !around.reads_items {
        // The loop only counts its items, so a list of the same length replaces them.
        let most = most.min(MOST_ROUNDS);
        let rounds = length(heap, *rest, most + 1);
        if rounds <= most {
            *rest = heap.make_list(&vec![nothing; rounds]);
        }
    }
    calls
}

/// The length of a list, limited to `most`.
fn length<H: Heap>(heap: &H, list: H::Term, most: usize) -> usize {
    let (mut length, mut rest) = (0, list);
    while let (true, Some((_, tail))) = (length < most, heap.uncons(rest)) {
        length += 1;
        rest = tail;
    }
    length
}

/// The map reduced to these keys; a key that occurs twice in `keys` makes one entry.
fn only<H: Heap>(heap: &mut H, consts: &[H::Term], map: H::Term, keys: &[ConstId]) -> H::Term {
    if keys.len() > MOST_KEYS {
        return map;
    }
    let (mut found, mut values) = (Vec::new(), Vec::new());
    for key in keys {
        let Some(key) = consts.get(*key as usize) else {
            return map;
        };
        if let Lookup::Found(value) = heap.lookup(map, *key, &mut H::KeyCache::default()) {
            found.push(*key);
            values.push(value);
        }
    }
    heap.make_map(&found, &values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptc_term::plain::PlainHeap;

    #[test]
    fn a_map_keeps_the_keys_that_are_read() {
        let mut heap = PlainHeap::default();
        let keys = ["a", "b", "c"].map(|key| heap.make_string(key.as_bytes()));
        let nil = heap.nil();
        let map = heap.make_map(&keys[..2], &[nil, keys[0]]);
        // The second is read twice, the third is missing.
        let kept = only(&mut heap, &keys, map, &[1, 2, 1]);
        assert_eq!(heap.show(kept), r#"%{"b" => "a"}"#);
        let none = only(&mut heap, &keys, map, &[]);
        assert_eq!(heap.map_size(none), Some(0));
        let many = vec![1; MOST_KEYS + 1];
        let whole = only(&mut heap, &keys, map, &many);
        assert!(heap.identical(whole, map));
    }

    #[test]
    fn a_list_is_counted_up_to_a_limit() {
        let mut heap = PlainHeap::default();
        let nil = heap.nil();
        let list = heap.make_list(&[nil; 5]);
        assert_eq!(length(&heap, list, 10), 5);
        assert_eq!(length(&heap, list, 3), 3);
    }
}
