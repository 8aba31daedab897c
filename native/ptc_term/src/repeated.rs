//! Keys that are repeated: of equal ones the first counts.

use crate::heap::Heap;

/// Returns which keys are the first of those that equal them; `None` if no two are equal. Linear, if the heap's hashes with
/// this seed are spread.
fn first_of_equal<H: Heap>(heap: &H, keys: &[H::Term], seed: u64) -> Option<Vec<bool>> {
    let hash = |(place, key): (usize, &H::Term)| (heap.hash(*key, seed), place);
    let mut hashes: Vec<_> = keys.iter().enumerate().map(hash).collect();
    hashes.sort_unstable();
    let mut first = vec![true; keys.len()];
    for same in hashes.chunk_by(|(a, _), (b, _)| a == b) {
        for (index, (_, place)) in same.iter().enumerate() {
            let equals = |(_, earlier): &(u64, usize)| heap.identical(keys[*earlier], keys[*place]);
            first[*place] = !same[..index].iter().any(equals);
        }
    }
    first.contains(&false).then_some(first)
}

/// Keys, and their values.
pub type Entries<T> = (Vec<T>, Vec<T>);

/// Returns the entries of a map without those whose keys equal an earlier one; `None` if there are none.
pub fn without_repeated<H: Heap>(
    heap: &H,
    (keys, values): (&[H::Term], &[H::Term]),
    seed: u64,
) -> Option<Entries<H::Term>> {
    let first = first_of_equal(heap, keys, seed)?;
    let entries = keys.iter().copied().zip(values.iter().copied());
    let kept = entries.zip(first).filter(|(_, first)| *first);
    Some(kept.map(|(entry, _)| entry).unzip())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plain::PlainHeap;

    #[test]
    fn the_first_of_equal_keys_is_kept() {
        let mut heap = PlainHeap::default();
        let mut keys: Vec<_> = (["a", "b", "a", "c", "b", "a"].iter())
            .map(|text| heap.make_string(text.as_bytes()))
            .collect();
        for seed in 0..4 {
            assert_eq!(
                first_of_equal(&heap, &keys, seed),
                Some(vec![true, true, false, true, false, false])
            );
        }
        keys.truncate(2);
        assert_eq!(first_of_equal(&heap, &keys, 0), None);
        assert_eq!(first_of_equal(&heap, &[], 0), None);
    }
}
