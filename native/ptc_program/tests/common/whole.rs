//! Walks over whole terms: their weight, their normal forms, names in another spelling, lines of errors.

use super::cost::{self, Cost};
use super::model::Choices;
use super::oracle::shown;
use super::rng::Rng;
use super::{built, resumed, FREE};
use ptc_term::class::{Class, Classed};
use ptc_term::heap::{Heap, Kind, Lookup};
use ptc_term::meter::{Meter, Pace};
use ptc_term::names::KeyKind;
use ptc_term::number::Number;
use ptc_term::plain::{PlainHeap, Term};
use ptc_term::stop::Stop;
use ptc_term::weight::{own_words, words_of_row, Weighing};
use ptc_term::workspace::unlimited;
use ptc_type::error_terms::{error_line, Extent, Unwritten};
use ptc_type::normalize::{normalize, Form, Unfinished};
use ptc_type::twin::twin;
use ptc_type::Values;

const FORMS: [Form; 3] = [Form::Keys, Form::CacheKey, Form::Public];

/// Maximum words that a term with shared parts may weigh.
const MOST_WORDS: usize = 100_000;

/// Any bytes represent a term: its weight and its forms are those of a recursive oracle.
pub fn whole(bytes: &[u8]) {
    let mut heap = PlainHeap::new();
    let term = built::term(&mut heap, bytes, built::SHOWN);
    weighs(bytes, &mut heap, term);
    for form in FORMS {
        converts(bytes, &mut heap, term, form);
    }
    twins(bytes, &mut heap, term);
    line(bytes);
}

/// The walks of [`whole`] over a term of any size, to measure their cost.
pub fn whole_cost(bytes: &[u8]) -> Cost {
    let mut heap = PlainHeap::new();
    let term = built::term(&mut heap, bytes, usize::MAX);
    let mut fuel = 0;
    let mut meter = cost::meter();
    let _ = Weighing::new([term], 0, MOST_WORDS).run(&heap, &mut meter);
    fuel += meter.fuel_consumed();
    for form in FORMS {
        let mut meter = cost::meter();
        let _ = normalize(&mut heap, term, form, &mut meter);
        fuel += meter.fuel_consumed();
    }
    Cost {
        fuel,
        words: heap.words_built() + heap.conses(),
    }
}

/// Weighs a term, suspended every few units; `None` if it is heavier than the limit.
pub fn weight(heap: &mut PlainHeap, term: Term, limit: usize, units: usize) -> Option<usize> {
    let mut weighing = Weighing::new([term], 0, limit);
    loop {
        let mut meter = Meter::with_fuel(FREE, units);
        match weighing.run(heap, &mut meter) {
            Ok(()) => return Some(weighing.words()),
            Err(Stop::MemoryExceeded) => return None,
            Err(Stop::SliceOver) => {
                (weighing, _) = resumed(weighing, heap);
            }
            Err(_) => unreachable!("no limit of time"),
        }
    }
}

fn weighs(bytes: &[u8], heap: &mut PlainHeap, term: Term) {
    let words = words_of(heap, term);
    for units in [1, 7, usize::MAX / 2] {
        assert_eq!(
            weight(heap, term, words, units),
            Some(words),
            "{}",
            shown(bytes)
        );
        if words > 0 {
            assert_eq!(
                weight(heap, term, words - 1, units),
                None,
                "{}",
                shown(bytes)
            );
        }
    }
    if let Some(row) = words_of_row(heap, term) {
        assert_eq!(row, words, "{}", shown(bytes));
    }
}

fn words_of(heap: &PlainHeap, term: Term) -> usize {
    let kind = heap.kind(term);
    let parts: Vec<Term> = match kind {
        Kind::List => heap
            .uncons(term)
            .into_iter()
            .flat_map(|(a, b)| [a, b])
            .collect(),
        Kind::Map => heap
            .entries(term)
            .into_iter()
            .flat_map(|(a, b)| [a, b])
            .collect(),
        _ => heap.tuple(term).unwrap_or_default().to_vec(),
    };
    let own = own_words(heap, term, kind);
    own + parts
        .into_iter()
        .map(|part| words_of(heap, part))
        .sum::<usize>()
}

fn converts(bytes: &[u8], heap: &mut PlainHeap, term: Term, form: Form) {
    let result = match normalize(heap, term, form, &mut unlimited()) {
        Ok(result) => Some(result),
        Err(Unfinished::Improper(_)) => None,
        Err(Unfinished::Stopped(_)) => panic!("stopped: {}", shown(bytes)),
    };
    let expected = converted(heap, term, form);
    let text = |term: Option<Term>| term.map(|term| heap.show(term));
    assert_eq!(text(result), text(expected), "{form:?}: {}", shown(bytes));
    // What does not change is the very term.
    if let Some(result) = result.filter(|result| heap.identical(*result, term)) {
        assert_eq!(result, term, "{form:?}: {}", shown(bytes));
    }
}

/// Returns the term in the form; `None` for an improper list where it must be proper.
fn converted(heap: &mut PlainHeap, term: Term, form: Form) -> Option<Term> {
    if let Some(elements) = Classed::tuple(heap, term).map(<[Term]>::to_vec) {
        let inner = |heap: &mut PlainHeap| -> Option<Vec<Term>> {
            elements
                .iter()
                .map(|part| converted(heap, *part, form))
                .collect()
        };
        return match form {
            Form::Keys => Some(term),
            Form::CacheKey => inner(heap).map(|parts| heap.make_list(&parts)),
            Form::Public => inner(heap).map(|parts| heap.tuple(&parts)),
        };
    }
    match heap.kind(term) {
        Kind::List => match heap.uncons(term) {
            Some((head, tail)) => {
                let head = converted(heap, head, form)?;
                let is_list = heap.kind(tail) == Kind::List;
                (is_list || form == Form::Public).then_some(())?;
                let tail = converted(heap, tail, form)?;
                Some(heap.cons(head, tail))
            }
            None => Some(term),
        },
        Kind::Map if !heap.is_struct(term) => {
            let mut entries = heap.entries(term);
            // `make_map` keeps the first of equal keys: the last one in term order counts.
            entries.sort_by(|(a, _), (b, _)| heap.compare(*b, *a));
            let (mut keys, mut values) = (Vec::new(), Vec::new());
            for (key, value) in entries {
                let name = name_of(heap, key);
                let is_hidden = matches!(name.as_deref(), Some([b'_' | b'-', ..]));
                if form == Form::Public && is_hidden {
                    continue;
                }
                let is_keyword = heap.kind(key) == Kind::Map;
                keys.push(match name.filter(|_| form != Form::Public && !is_keyword) {
                    Some(name) => {
                        let swap = |byte: &u8| if *byte == b'-' { b'_' } else { *byte };
                        let text: Vec<u8> = name.iter().map(swap).collect();
                        heap.make_string(&text)
                    }
                    None => key,
                });
                values.push(converted(heap, value, form)?);
            }
            Some(heap.make_map(&keys, &values))
        }
        Kind::Number if form == Form::CacheKey => Some(match heap.number(term) {
            Some(Number::Float(value)) if value.fract() == 0.0 => {
                let digits = format!("{value:.0}");
                let number = Number::from_digits(digits.as_bytes());
                heap.make_number(number).unwrap_or(term)
            }
            _ => term,
        }),
        _ => Some(term),
    }
}

/// Returns the name of an atom, a string or a keyword.
fn name_of(heap: &PlainHeap, key: Term) -> Option<Vec<u8>> {
    let mut name = Vec::new();
    match heap.class(key) {
        Class::Atom => heap.put_atom_name(key, &mut name),
        Class::Bitstring => name.extend_from_slice(heap.bytes(key)?),
        _ => name.extend_from_slice(heap.bytes(heap.keyword_name(key)?)?),
    }
    Some(name)
}

/// Finds each of these names in a map of spellings of names that the bytes choose.
fn twins(bytes: &[u8], heap: &mut PlainHeap, value: Term) {
    const NAMES: [&str; 6] = ["a-b", "a_b", "a", "", "-", "é-è"];
    let mut rng = Rng::new(
        bytes
            .iter()
            .fold(7, |sum, byte| sum.rotate_left(5) ^ u64::from(*byte)),
    );
    for name in ["a", "a_b", "a-b", "-"] {
        heap.atom(name);
    }
    let (mut keys, mut values) = (vec![value], vec![value]);
    // Beyond 32 entries, each spelling is looked up.
    let others = if rng.once_in(2) { 40 } else { 0 };
    for number in 0..others {
        keys.extend(heap.make_number(Number::Int(number)));
        values.push(value);
    }
    for number in 0..rng.below(8) as i64 {
        let kind = rng.pick(&KeyKind::ALL);
        let Some(key) = heap.make_key(kind, rng.pick(&NAMES).as_bytes()) else {
            continue;
        };
        keys.push(key);
        values.extend(heap.make_number(Number::Int(number)));
    }
    let map = heap.make_map(&keys, &values);
    for name in NAMES {
        for of in KeyKind::ALL {
            let others = KeyKind::ALL.into_iter().filter(|kind| *kind != of);
            let mut spellings: Vec<(KeyKind, String)> =
                others.map(|kind| (kind, name.to_owned())).collect();
            if name.contains('-') {
                let plain = match of {
                    KeyKind::String => [KeyKind::String, KeyKind::Atom],
                    KeyKind::Atom | KeyKind::Keyword => [KeyKind::Atom, KeyKind::String],
                };
                spellings.extend(plain.map(|kind| (kind, name.replace('-', "_"))));
            }
            let expected = spellings.into_iter().find_map(|(kind, name)| {
                let key = heap.make_key(kind, name.as_bytes())?;
                match heap.lookup(map, key, &mut 0) {
                    Lookup::Found(value) => Some(value),
                    _ => None,
                }
            });
            let found = twin(heap, map, name.as_bytes(), of);
            assert_eq!(found, expected, "{name} as {of:?} in {}", heap.show(map));
        }
    }
}

/// Writes errors that the bytes choose in one line.
fn line(bytes: &[u8]) {
    const MESSAGES: [&str; 4] = ["m", "", "expected int, got string", "ü"];
    const TIMES: [usize; 8] = [1, 1, 1, 2, 999, 1_000, 1_001, 2_000];
    let mut heap = PlainHeap::new();
    let mut choices = Choices(bytes);
    let keys = ["path", "message"].map(|name| heap.atom(name));
    let (mut errors, mut texts) = (Vec::new(), Vec::new());
    for _ in 0..choices.below(6) {
        let mut segments = Vec::new();
        let mut names = Vec::new();
        for _ in 0..choices.below(4) {
            let index = choices.below(200) as i64 - 100;
            match choices.below(3) {
                0 => {
                    names.push(index.to_string());
                    segments.extend(heap.make_number(Number::Int(index)));
                }
                _ => {
                    let name = MESSAGES[choices.below(4)].repeat(TIMES[choices.below(8)]);
                    segments.push(heap.make_string(name.as_bytes()));
                    names.push(name);
                }
            }
        }
        let message = MESSAGES[choices.below(4)].repeat(TIMES[choices.below(8)]);
        let path = match names.is_empty() {
            true => "root".to_owned(),
            false => cut(names.join(".")),
        };
        let values = [
            heap.make_list(&segments),
            heap.make_string(message.as_bytes()),
        ];
        errors.push(heap.make_map(&keys, &values));
        texts.push(format!("{path}: {}", cut(message)));
    }
    let extent = Extent {
        errors: choices.below(8),
        bytes: 1_000 * choices.below(8),
        omitted: choices.below(3),
    };
    let mut expected = Vec::new();
    let mut left = extent.bytes;
    for text in texts.iter().take(extent.errors) {
        let Some(rest) = left.checked_sub(text.len() + 2) else {
            break;
        };
        left = rest;
        expected.push(text.clone());
    }
    let more = texts.len() - expected.len() + extent.omitted;
    if more > 0 {
        expected.push(format!("and {more} more"));
    }
    let list = heap.make_list(&errors);
    let written = error_line(&heap, keys, list, extent, &mut unlimited());
    let written = written.map(|line| String::from_utf8(line).expect("only UTF-8 was given"));
    assert_eq!(written, Ok(expected.join("; ")));
    // Another error at the end is found, whatever is shown.
    let improper = heap.make_list_onto(&errors, keys[0]);
    let written = error_line(&heap, keys, improper, extent, &mut unlimited());
    assert_eq!(written, Err(Unwritten::Other));
    let mut slice = Meter::with_fuel_at(Pace::Slice, FREE, 0);
    let stopped = error_line(&heap, keys, list, extent, &mut slice);
    assert!(errors.is_empty() || stopped == Err(Unwritten::Stopped));
}

/// Returns a path or a message as the line shows it.
fn cut(text: String) -> String {
    const MOST: usize = 2_000;
    if text.len() <= MOST {
        return text;
    }
    let note = format!("… ({} bytes)", text.len());
    let mut end = MOST - note.len();
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}{note}", &text[..end])
}
