//! The cost of work as its meter counts it. Fuel must be linear in the input where the work is; time
//! and memory must be linear in the fuel, whatever the input: the fuzz targets measure them.

use super::oracle::shown;
use super::{built, load_options, End, Lab, LONG, UNCHECKED};
use ptc_json::{JsonLimits, Table};
use ptc_program::load::Loader;
use ptc_term::heap::Heap;
use ptc_term::job::Job;
use ptc_term::meter::{Deadline, Limits, Meter, Pace};
use ptc_term::number::Number;
use ptc_term::plain::{PlainHeap, Term};
use std::time::Duration;

/// What was counted.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cost {
    pub fuel: usize,
    pub words: usize,
}

/// Inputs with shared parts can take any time: they end here.
pub const LIMITS: Limits = Limits {
    deadline: Deadline::After(Duration::from_millis(100)),
    words: 200_000,
};

/// Number of elements of a list in the context, and of different ones.
const ROWS: usize = 1_000;
const DISTINCT: usize = 8;

/// A meter whose work ends at the limits, and is not suspended.
pub fn meter() -> Meter {
    Meter::new(LIMITS, Pace::Quantum).with_quantum(LONG)
}

/// Compiles and runs a JSON text.
pub fn program(text: &[u8]) -> Cost {
    match Table::parse(text, JsonLimits::depth(500)) {
        Ok(_) => run(Lab::of_text(PlainHeap::new(), text, UNCHECKED), 0),
        Err(_) => Cost::default(),
    }
}

/// Compiles and runs the term that the bytes represent, with all its shared parts.
pub fn program_of_terms(bytes: &[u8]) -> Cost {
    let (mut heap, mut meter) = (PlainHeap::new(), meter());
    let program = built::term(&mut heap, bytes, usize::MAX);
    let mut loader = Loader::of_term(program, load_options(UNCHECKED));
    let loaded = loader.step(b"", &mut heap, &mut meter);
    let lab = match loaded.ok().and_then(|_| loader.finish(&heap)) {
        Some(loaded) => Ok(Lab::new(heap, (*loaded.program).clone(), loaded.consts)),
        None => Err(End::MemoryExceeded),
    };
    run(lab, meter.fuel_consumed())
}

fn run(lab: Result<Lab, End>, compiled: usize) -> Cost {
    let Ok(mut lab) = lab else {
        return Cost {
            fuel: compiled,
            words: 0,
        };
    };
    lab.context = large_context(&mut lab.heap);
    lab.limits = LIMITS;
    let fuel = compiled + lab.cost();
    Cost {
        fuel,
        words: lab.heap.words_built(),
    }
}

/// A context of the names that programs use, where work that is not counted takes long: many rows, long
/// strings that differ at their ends, large integers.
fn large_context(heap: &mut PlainHeap) -> Term {
    let names = ["a", "b", "items", "n", "result"];
    let names = names.map(|name| heap.make_string(name.as_bytes()));
    let [a, b, _, n, _] = names;
    let (prefix, digits) = ("a".repeat(500), "9".repeat(300));
    let (mut rows, mut strings, mut numbers) = (Vec::new(), Vec::new(), Vec::new());
    for end in 0..DISTINCT {
        let string = heap.make_string(format!("{prefix}{end}").as_bytes());
        let number = Number::from_digits(format!("{digits}{end}").as_bytes());
        let number = heap.make_number(number).expect("an integer");
        let few = heap.make_list(&[string, number, string]);
        rows.push(heap.make_map(&[a, b, n], &[string, few, number]));
        strings.push(string);
        numbers.push(number);
    }
    let repeated = |heap: &mut PlainHeap, terms: &[Term]| {
        let terms: Vec<Term> = terms.iter().cycle().take(ROWS).copied().collect();
        heap.make_list(&terms)
    };
    let values = [
        strings[0],
        repeated(heap, &strings),
        repeated(heap, &rows),
        numbers[0],
        repeated(heap, &numbers),
    ];
    heap.make_map(&names, &values)
}

/// Checks that the fuel is at most `fixed` and `each` per byte of the input, or other part of it.
pub fn linear(input: &[u8], parts: usize, fuel: usize, (fixed, each): (usize, usize)) {
    assert!(
        fuel <= fixed + each * parts,
        "{fuel} units for {parts} parts: {}",
        shown(input)
    );
}
