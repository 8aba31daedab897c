//! Properties of every input, for the random tests and the fuzz targets.

use super::rng::Rng;
use super::{built, generate, load_options, oracle, End, Lab, DEEP, FREE, STRICT, UNCHECKED};
use ptc_json::{Document, JsonLimits, Table};
use ptc_program::compile::Options;
use ptc_program::load::Loader;
use ptc_term::meter::{Deadline, Limits, Meter};
use ptc_term::plain::{PlainHeap, Term};
use ptc_term::workspace::unlimited;
use ptc_type::{parse, render_signature, KeyStyle, Signature};
use std::cell::RefCell;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

/// Enough fuel for what small inputs compute; infinite loops use it up quickly.
const LIMITS: Limits = Limits {
    deadline: Deadline::After(Duration::from_secs(2)),
    words: 200_000,
};

/// The reader agrees with serde_json, and reports the correct offset of an error.
pub fn reader(text: &[u8]) {
    oracle::agree(text);
}

/// Any bytes are a signature whose rendered text parses to the same signature, or give an error with an
/// offset.
pub fn signature(text: &[u8]) {
    let shown = || String::from_utf8_lossy(text).into_owned();
    let signature = match parse(text) {
        Ok(signature) => signature,
        Err(mistake) => {
            assert!(mistake.column <= text.len(), "{:?}", shown());
            assert!(mistake.deepest <= text.len(), "{:?}", shown());
            return;
        }
    };
    let write = |signature: &Signature| {
        render_signature(signature, KeyStyle::Declared, usize::MAX).unwrap_or_default()
    };
    let written = write(&signature);
    // Without parameters it starts with the arrow, which is not read.
    let readable = written.strip_prefix(b"-> ").unwrap_or(&written);
    let again = parse(readable).map(|signature| write(&signature));
    assert_eq!(again.as_ref(), Ok(&written), "{:?}", shown());
}

/// Reads a text, to measure its cost.
pub fn reader_cost(text: &[u8]) {
    if let Ok(table) = Table::parse(text, DEEP) {
        Document::new(text, &table).build(0, &mut PlainHeap::new());
    }
}

/// Any bytes represent a term, which runs as a program, checked or not, with and without suspension;
/// the result is always the same.
pub fn program_of_terms(bytes: &[u8]) {
    let seed = seed_of(bytes);
    for options in [UNCHECKED, STRICT] {
        let program = RefCell::new(None);
        let heap = || {
            let mut heap = PlainHeap::new();
            program.replace(Some(built::term(&mut heap, bytes, built::SHOWN)));
            heap
        };
        let loader = || {
            let program = program.take().expect("its heap was made");
            Loader::of_term(program, load_options(options))
        };
        loads_the_same(heap, loader, bytes);
        let lab = || {
            let mut heap = PlainHeap::new();
            let program = built::term(&mut heap, bytes, built::SHOWN);
            Lab::of_term(heap, program, options).map(|lab| over_any_terms(lab, seed))
        };
        let (end, calls) = run(lab(), Lab::in_one_go);
        let mut rng = Rng::new(seed);
        let longest = 1 + rng.below(20);
        let (in_executions, same_calls) =
            run(lab(), |lab| lab.in_executions(|| 1 + rng.below(longest)));
        same(bytes, &end, &in_executions);
        let stopped = [&end, &in_executions].into_iter().any(is_stop);
        assert!(stopped || calls == same_calls, "{}", oracle::shown(bytes));
    }
}

/// Any bytes load as a program's text, or are refused for the same reason, wherever the loading is left.
pub fn load(text: &[u8]) {
    let loader = || Loader::of_text(text.len(), load_options(STRICT));
    loads_the_same(PlainHeap::new, loader, text);
}

fn loads_the_same(heap: impl Fn() -> PlainHeap, loader: impl Fn() -> Loader<Term>, text: &[u8]) {
    let load = |meter: &mut dyn FnMut() -> Meter| {
        let heap = heap();
        let loader = loader();
        let lab = Lab::load(heap, loader, text, meter)?;
        Ok((lab.heap.show_all(&lab.consts), lab.program))
    };
    let whole: Result<_, End> = load(&mut unlimited);
    let mut rng = Rng::new(seed_of(text));
    let longest = 8 + rng.below(2_000);
    // A long number is read in one step, which needs more fuel than some executions have. So the fuel grows.
    let mut least = 8;
    let cut = load(&mut || {
        least += 1;
        Meter::with_fuel(FREE, least + rng.below(longest))
    });
    assert_eq!(cut, whole, "{}", oracle::shown(text));
}

/// Compiles a JSON text, to measure its cost.
pub fn compile_cost(text: &[u8]) {
    if Table::parse(text, JsonLimits::depth(500)).is_ok() {
        drop(Lab::of_text(PlainHeap::new(), text, STRICT));
    }
}

fn seed_of(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    hasher.finish()
}

/// A JSON text runs as a program, checked or not, as text or as terms, with and without suspension; the
/// result is always the same.
pub fn program(text: &[u8]) {
    load(text);
    if Table::parse(text, JsonLimits::depth(500)).is_err() {
        return;
    }
    load(&[br#"{"program":"#, text, b"}"].concat());
    let seed = seed_of(text);
    let end = in_all_ways(text, UNCHECKED, seed);
    match in_all_ways(text, STRICT, seed) {
        End::Rejected(_) => {}
        checked => same(text, &checked, &end),
    }
}

fn in_all_ways(text: &[u8], options: Options, seed: u64) -> End {
    let (end, calls) = run(lab(text, options, seed), Lab::in_one_go);
    let (as_term, same_calls) = run(lab_of_term(text, options, seed), Lab::in_one_go);
    same(text, &end, &as_term);
    assert_eq!(calls, same_calls, "{}", oracle::shown(text));
    let mut rng = Rng::new(seed);
    let longest = 1 + rng.below(20);
    let (in_executions, same_calls) = run(lab(text, options, seed), |lab| {
        lab.in_executions(|| 1 + rng.below(longest))
    });
    same(text, &end, &in_executions);
    let stopped = [&end, &in_executions].into_iter().any(is_stop);
    assert!(stopped || calls == same_calls, "{}", oracle::shown(text));
    end
}

fn lab(text: &[u8], options: Options, seed: u64) -> Result<Lab, End> {
    Lab::of_text(PlainHeap::new(), text, options).map(|lab| over_any_terms(lab, seed))
}

fn lab_of_term(text: &[u8], options: Options, seed: u64) -> Result<Lab, End> {
    let mut heap = PlainHeap::new();
    let text = std::str::from_utf8(text).expect("JSON is UTF-8");
    let program = super::term(&mut heap, text).expect("it was read before");
    Lab::of_term(heap, program, options).map(|lab| over_any_terms(lab, seed))
}

fn over_any_terms(mut lab: Lab, seed: u64) -> Lab {
    let mut rng = Rng::new(seed);
    lab.context = generate::any_context(&mut rng, &mut lab.heap);
    if rng.once_in(2) {
        lab.memory = generate::any_context(&mut rng, &mut lab.heap);
    }
    lab.limits = LIMITS;
    lab
}

fn run(lab: Result<Lab, End>, run: impl FnOnce(&mut Lab) -> End) -> (End, Vec<String>) {
    match lab {
        Ok(mut lab) => (run(&mut lab), lab.calls),
        Err(end) => (end, vec![]),
    }
}

/// Whether a limit is reached depends on the clock, and on repeated work.
fn is_stop(end: &End) -> bool {
    matches!(end, End::DeadlinePassed | End::MemoryExceeded)
}

fn same(text: &[u8], a: &End, b: &End) {
    assert!(
        a == b || is_stop(a) || is_stop(b),
        "{}: {a:?}, {b:?}",
        oracle::shown(text)
    );
}
