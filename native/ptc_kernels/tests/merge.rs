//! Merging lists of maps by a field, compared with a simple model.

use ptc_kernels::merge::{merge_by_field, merge_lists, Merged};
use ptc_term::heap::{Heap, Lookup};
use ptc_term::meter::{Deadline, Limits, Meter, Pace};
use ptc_term::number::Number;
use ptc_term::plain::{PlainHeap, Term};
use ptc_term::stop::Stop;
use ptc_term::workspace::{unlimited, Workspace};

struct Merge {
    heap: PlainHeap,
    name: Term,
    tag: Term,
}

impl Merge {
    fn new() -> Self {
        let mut heap = PlainHeap::new();
        let (name, tag) = (heap.atom("name"), heap.atom("tag"));
        Merge { heap, name, tag }
    }

    fn number(&mut self, number: Number) -> Term {
        self.heap.make_number(number).unwrap()
    }

    /// A map with that name.
    fn item(&mut self, name: &str, tag: i64) -> Term {
        let name = self.heap.make_string(name.as_bytes());
        let tag = self.number(Number::Int(tag));
        self.heap.make_map(&[self.name, self.tag], &[name, tag])
    }

    fn name_of(&self, item: Term) -> Option<Term> {
        match self.heap.lookup(item, self.name, &mut Default::default()) {
            Lookup::Found(name) => Some(name),
            _ => None,
        }
    }

    fn same(&self, a: Term, b: Term) -> bool {
        match (self.name_of(a), self.name_of(b)) {
            (Some(a), Some(b)) => self.heap.identical(a, b),
            _ => false,
        }
    }

    /// The model, in quadratic time.
    fn expected(&self, left: &[Term], right: &[Term]) -> Vec<Term> {
        let last = |item: &Term| right.iter().rfind(|other| self.same(*item, **other));
        let mut merged: Vec<_> = left
            .iter()
            .map(|item| *last(item).unwrap_or(item))
            .collect();
        let is_new = |item: &&Term| !left.iter().any(|other| self.same(*other, **item));
        merged.extend(right.iter().filter(is_new));
        merged
    }

    fn check(&mut self, left: &[Term], right: &[Term]) {
        let mut meter = unlimited();
        let work = &mut Workspace::in_one_go(&mut self.heap, &mut meter);
        let merged = merge_by_field(work, self.name, left, right);
        assert_eq!(merged, Ok(self.expected(left, right)));
    }
}

#[test]
fn every_split_of_few_names() {
    let mut merge = Merge::new();
    let items: Vec<_> = (0..30)
        .map(|n| merge.item(["a", "b", "c", "d"][n * 7 % 4], n as i64))
        .collect();
    for split in 0..items.len() {
        for end in split..items.len() {
            merge.check(&items[..split], &items[split..end]);
        }
    }
}

#[test]
fn many_names() {
    let mut merge = Merge::new();
    let items: Vec<_> = (0..600)
        .map(|n| merge.item(&(n * 7919 % 400).to_string(), n))
        .collect();
    for split in [0, 1, 8, 9, 10, 300, 590, 600] {
        merge.check(&items[..split], &items[split..]);
        merge.check(&items[split..], &items[..split]);
    }
}

#[test]
fn names_are_told_apart_strictly_and_may_be_missing() {
    let mut merge = Merge::new();
    let empty = merge.heap.make_map(&[], &[]);
    let (one, float) = (
        merge.number(Number::Int(1)),
        merge.number(Number::Float(1.0)),
    );
    let by_one = merge.heap.make_map(&[merge.name], &[one]);
    let by_float = merge.heap.make_map(&[merge.name], &[float]);
    let named = merge.item("1", 1);
    for repeat in [1, 5] {
        let left = [empty, by_one, one, named].repeat(repeat);
        let right = [one, by_float, empty, named].repeat(repeat);
        merge.check(&left, &right);
    }
}

#[test]
fn names_of_megabytes_are_counted_before_they_are_looked_at() {
    let mut merge = Merge::new();
    let long = "n".repeat(1 << 20);
    let items: Vec<_> = (0..40).map(|n| merge.item(&long, n)).collect();
    let limits = Limits {
        deadline: Deadline::Never,
        words: usize::MAX,
    };
    let mut meter = Meter::new(limits, Pace::Slice);
    let work = &mut Workspace::in_one_go(&mut merge.heap, &mut meter);
    let merged = merge_by_field(work, merge.name, &items[..20], &items[20..]);
    assert_eq!(merged, Err(Stop::SliceOver));
}

#[test]
fn lists_that_are_too_long_or_improper_are_not_merged() {
    let mut merge = Merge::new();
    let items = [merge.item("a", 1), merge.item("b", 2)];
    let list = merge.heap.make_list(&items);
    let improper = merge.heap.make_list_onto(&items, items[0]);
    let name = merge.name;
    let mut merged = |lists, limit| {
        let mut meter = unlimited();
        let mut work = Workspace::in_one_go(&mut merge.heap, &mut meter);
        merge_lists(&mut work, name, lists, limit)
    };
    assert_eq!(merged([list, list], 4), Merged::Items(items.to_vec()));
    assert_eq!(merged([list, list], 3), Merged::TooLong);
    assert_eq!(merged([list, list], 1), Merged::TooLong);
    assert_eq!(merged([list, improper], 9), Merged::Improper);
    assert_eq!(merged([improper, list], 9), Merged::Improper);
}
