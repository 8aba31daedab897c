//! The fuzz target `walk` on stable Rust, and single cases.
//! `PTC_ROUNDS=1000000 cargo test --release --test signature_walks` runs longer.

use crate::common::rng::Rng;
use crate::common::{resumed, rounds, shared, walks};
use ptc_term::heap::Heap;
use ptc_term::meter::{Deadline, Limits, Meter, Pace};
use ptc_term::number::Number;
use ptc_term::plain::{PlainHeap, Term};
use ptc_type::{
    Check, Coerce, Findings, PathStep, Purpose, Rules, Scalar, State, Type, TypeId, Types, Walk,
    WalkEnd,
};

#[test]
fn random_values_are_walked_as_the_oracle_says() {
    let mut random = Rng::new(7);
    for _ in 0..rounds(5_000) {
        let length = random.below(200);
        let bytes: Vec<u8> = (0..length).map(|_| random.next() as u8).collect();
        walks::walk(&bytes);
        shared::walk_cost(&bytes);
    }
}

fn meter(pace: Pace) -> (Meter, Pace) {
    let limits = Limits {
        deadline: Deadline::Never,
        words: usize::MAX,
    };
    (Meter::new(limits, pace), pace)
}

/// A list type of this depth over a scalar.
fn lists(scalar: Scalar, depth: usize) -> (Types, TypeId) {
    let mut types = Types::new();
    let scalar = types.add(Type::Scalar(scalar));
    let root = (0..depth).fold(scalar, |id, _| types.add(Type::List(id)));
    (types, root)
}

/// A list of two references to the same list, nested: a small term that represents 2^depth values.
fn doubled(heap: &mut PlainHeap, leaf: Term, depth: usize) -> Term {
    (0..depth).fold(leaf, |value, _| heap.make_list(&[value, value]))
}

#[test]
fn what_is_shared_is_looked_at_once_in_a_long_walk() {
    let (types, root) = lists(Scalar::Int, 60);
    let mut heap = PlainHeap::new();
    let one = heap.make_number(Number::Int(1)).expect("an integer");
    let value = doubled(&mut heap, one, 60);
    let state = State::new((value, root), Check::by(Rules::default()));
    let mut walk = Walk::new(&mut heap, &types, state, meter(Pace::Quantum));
    walk.remember_after(100_000);
    loop {
        match walk.run() {
            Err(WalkEnd::SliceOver) => walk.refuel(meter(Pace::Quantum).0),
            end => break assert_eq!(end, Ok(())),
        }
    }
    assert!(walk.remembers());
    assert!(walk.fuel() < 10_000_000, "{} units", walk.fuel());
}

#[test]
fn work_is_counted_in_bytes_before_it_is_done() {
    let (types, root) = lists(Scalar::Int, 0);
    let mut heap = PlainHeap::new();
    for (digits, units) in [
        (1_000, 250..2_000),
        (30_000, 8_000..40_000),
        (1_000_000, 5_000_000..50_000_000),
    ] {
        let text = heap.make_string("7".repeat(digits).as_bytes());
        let state = State::new((text, root), Coerce::new(Purpose::Coerce, None));
        let mut walk = Walk::new(&mut heap, &types, state, meter(Pace::Quantum));
        assert!(matches!(walk.run(), Ok(Some(_)) | Err(WalkEnd::SliceOver)));
        assert!(
            units.contains(&walk.fuel()),
            "{digits} digits: {}",
            walk.fuel()
        );
    }
    // In a slice what is too long is not begun.
    let text = heap.make_string("7".repeat(1_000_000).as_bytes());
    let state = State::new((text, root), Coerce::new(Purpose::Coerce, None));
    let mut walk = Walk::new(&mut heap, &types, state, meter(Pace::Slice));
    assert_eq!(walk.run(), Err(WalkEnd::TooLong));
}

#[test]
fn what_is_too_long_for_an_atom_is_refused_at_once() {
    let (types, root) = lists(Scalar::Keyword, 0);
    let mut heap = PlainHeap::new();
    let text = heap.make_string(&vec![b'a'; 20_000_000]);
    let state = State::new((text, root), Coerce::new(Purpose::Coerce, None));
    let mut walk = Walk::new(&mut heap, &types, state, meter(Pace::Quantum));
    assert_eq!(walk.run(), Err(WalkEnd::Failed));
}

#[test]
fn depth_needs_no_call_stack_and_suspension_copies_no_frame_twice() {
    const DEPTH: usize = 200_000;
    let (types, root) = lists(Scalar::Int, DEPTH);
    let mut heap = PlainHeap::new();
    let text = heap.make_string(b"12");
    let value = (0..DEPTH).fold(text, |value, _| heap.make_list(&[value]));
    let mut most = 0;
    let state = State::new((value, root), Coerce::new(Purpose::Coerce, None));
    let mut walk = Walk::new(&mut heap, &types, state, meter(Pace::Quantum));
    let made = loop {
        walk.pause_after(1_000);
        match walk.run() {
            Err(WalkEnd::SliceOver) => {
                let (state, heap, _) = walk.into_state();
                let (state, terms) = resumed(state, heap);
                most = most.max(terms);
                walk = Walk::new(heap, &types, state, meter(Pace::Quantum));
            }
            end => break end.expect("it is coerced").expect("it changed"),
        }
    };
    // The terms of 200,000 lists are in tuples that are not copied again.
    assert!((1_000..2_000).contains(&most), "{most} terms");
    let mut inner = made;
    for _ in 0..DEPTH {
        (inner, _) = heap.uncons(inner).expect("a list");
    }
    assert_eq!(heap.small_integer(inner), Some(12));
}

/// A slice that is over after this much fuel.
fn slice(units: usize) -> (Meter, Pace) {
    let limits = meter(Pace::Slice).0.limits;
    (Meter::with_fuel(limits, units), Pace::Slice)
}

#[test]
fn a_slice_keeps_what_it_has_done() {
    const LENGTH: usize = 1_000;
    let (types, root) = lists(Scalar::Int, 1);
    let mut heap = PlainHeap::new();
    let text = heap.make_string(b"12");
    let value = heap.make_list(&[text; LENGTH]);
    let state = State::new((value, root), Coerce::new(Purpose::Coerce, None));
    let mut walk = Walk::new(&mut heap, &types, state, slice(400));
    assert_eq!(walk.run(), Err(WalkEnd::SliceOver));
    let done = walk.state.task.warnings.len();
    assert!((1..LENGTH).contains(&done), "{done}");
    let (state, heap, _) = walk.into_state();
    let (state, _) = resumed(state, heap);
    let mut walk = Walk::<_, Coerce<_>>::new(heap, &types, state, meter(Pace::Quantum));
    let made = loop {
        match walk.run() {
            // On a slow machine one quantum is not enough.
            Err(WalkEnd::SliceOver) => walk.refuel(meter(Pace::Quantum).0),
            end => break end.expect("it is coerced").expect("it changed"),
        }
    };
    assert_eq!(walk.state.task.warnings.len(), LENGTH);
    let mut rest = made;
    while let Some((number, tail)) = heap.uncons(rest) {
        assert_eq!(heap.small_integer(number), Some(12));
        rest = tail;
    }
}

#[test]
fn a_slice_ends_where_no_safe_point_is_near() {
    let (types, root) = lists(Scalar::Int, 1);
    let mut heap = PlainHeap::new();
    let wrong = heap.make_string(b"x");
    let value = heap.make_list(&vec![wrong; 100_000]);
    // The first element is wrong, and then the whole list is looked at: it might be none.
    let state = State::new((value, root), Coerce::new(Purpose::Coerce, None));
    let mut walk = Walk::new(&mut heap, &types, state, slice(400));
    assert_eq!(walk.run(), Err(WalkEnd::TooLong));
}

#[test]
fn findings_beyond_a_text_are_only_counted() {
    const LENGTH: usize = 20_000;
    let (types, root) = lists(Scalar::Int, 1);
    let mut heap = PlainHeap::new();
    let wrong = heap.make_string(b"x");
    let value = heap.make_list(&vec![wrong; LENGTH]);
    for (bytes, kept) in [(0, 0), (25, 1), (1_000, 40)] {
        let long = slice(usize::MAX >> 1);
        let mut state = State::new((value, root), Check::by(Rules::default()));
        state.findings = Findings::for_text(bytes);
        let mut walk = Walk::new(&mut heap, &types, state, long);
        assert_eq!(walk.run(), Ok(()));
        let mut findings = walk.into_state().0.findings;
        assert_eq!(
            (findings.count(), findings.omitted()),
            (LENGTH, LENGTH - kept)
        );
        let (mut path, mut places) = (Vec::new(), Vec::new());
        while findings.pop(&heap, &mut path).is_some() {
            places.push(path.clone());
        }
        let first: Vec<_> = (0..kept as u32)
            .map(|at| vec![PathStep::Index(at)])
            .collect();
        assert_eq!(places.into_iter().rev().collect::<Vec<_>>(), first);
    }
}
