//! Properties of every text that can be an LLM's answer.

use super::oracle::shown;
use super::rng::Rng;
use super::suspended;
use ptc_answer::stream::{Caution, Rules, Stream};
use ptc_answer::{read_answer, Ask, Errors, Keys, NoAnswer, Reading, Reply, Report};
use ptc_term::heap::Heap;
use ptc_term::job::Job;
use ptc_term::meter::{Limits, Meter, Pace};
use ptc_term::plain::{PlainHeap, Term};
use ptc_term::stop::Stop;
use ptc_type::{parse, rules, AnswerType, Scalar, Type, TypeId, Types};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Types with every kind of part.
const SIGNATURES: &[&str] = &[
    "{a :int, b [:float]?}",
    "{items [{a :string?, b-c :keyword, n {a :bool}}]}",
    "[{a :int}]",
    "[[:any]]",
    "{a :datetime, b :map, _c :keyword}",
];

/// The result is JSON from the text; a text that is JSON is found as a whole.
pub fn extractor(text: &[u8]) {
    let mut heap = PlainHeap::new();
    let found = read_answer(text, &mut heap);
    let whole = serde_json::from_slice::<serde_json::Value>(text);
    if whole.is_ok_and(|whole| whole.is_array() || whole.is_object()) {
        let mut same = PlainHeap::new();
        let text_only = std::str::from_utf8(text).unwrap_or_default();
        let term = super::term(&mut same, text_only).map(|term| same.show(term));
        let found = found.map(|answer| heap.show(answer.value));
        let too_long = matches!(found, Err(NoAnswer::Invalid(_)));
        assert!(too_long || found.ok() == term.ok(), "{}", shown(text));
        return;
    }
    match found {
        Ok(_) | Err(NoAnswer::NotFound(None)) => {}
        Err(NoAnswer::NotFound(Some(error)) | NoAnswer::Invalid(error)) => {
            assert!(error.position() <= text.len(), "{}", shown(text));
        }
    }
}

/// A stream of the text, with any chunk boundaries, halts only if the whole text is not an object, and
/// accepts any other text; its partial value is always available, and at the end it is that of a stream
/// that took the text at once.
pub fn stream(text: &[u8]) {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    let mut rng = Rng::new(hasher.finish());
    let mut heap = PlainHeap::new();
    let is_object =
        read_answer(text, &mut heap).is_ok_and(|answer| heap.map_size(answer.value).is_some());
    for caution in [Caution::Certain, Caution::Early] {
        let halted = halts(text, any_object(), caution, &mut rng);
        let later_fence = caution == Caution::Early && text.windows(3).any(|run| run == b"```");
        assert!(!halted || !is_object || later_fence, "{}", shown(text));
    }
    let signature = rng.pick(SIGNATURES).as_bytes();
    if let Ok(signature) = parse(signature) {
        let is_list = matches!(signature.types.get(signature.returns), Type::List(_));
        let plan = AnswerType::new(signature.types, signature.returns, is_list);
        halts(text, plan, Caution::Early, &mut rng);
    }
}

fn halts(text: &[u8], plan: AnswerType, caution: Caution, rng: &mut Rng) -> bool {
    let prose = !rng.once_in(8);
    let rules = Rules {
        caution,
        prose: prose || caution == Caution::Certain,
    };
    let mut stream = Stream::new(plan, rules);
    let (mut rest, longest) = (text, 1 + rng.below(20));
    let taken = |rest: &[u8]| &text[..text.len() - rest.len()];
    while !rest.is_empty() {
        let (chunk, more) = rest.split_at(rest.len().min(1 + rng.below(longest)));
        if stream.feed(chunk).is_some() {
            return prose;
        }
        rest = more;
        stream.partial(taken(rest), &mut PlainHeap::new());
    }
    assert!(stream.taken() == text.len(), "{}", shown(text));
    let value = |stream: &Stream| {
        let mut heap = PlainHeap::new();
        let value = stream.partial(text, &mut heap);
        value.map(|answer| heap.show(answer.value))
    };
    assert_eq!(
        value(&stream),
        value(&stream.again(text)),
        "{}",
        shown(text)
    );
    false
}

/// Finds and reads the JSON of an answer, to measure its cost.
pub fn extractor_cost(text: &[u8]) {
    let _ = read_answer(text, &mut PlainHeap::new());
}

/// An answer that is read and judged in pieces gives the same as one that is read at once; a value that is
/// found without a type is the one that is judged.
pub fn judged(text: &[u8]) {
    for signature in SIGNATURES {
        for report in [Report::All, Report::Line] {
            for coerce in [false, true] {
                let whole = read_by(text, signature, (report, coerce), usize::MAX);
                let pieces = read_by(text, signature, (report, coerce), 1_500);
                assert_eq!(whole, pieces, "{signature} {}", shown(text));
            }
        }
    }
}

/// Reads an answer, in quanta of so much fuel, and shows what was found.
pub fn read_as(text: &[u8], signature: &str, report: Report, fuel: usize) -> String {
    read_by(text, signature, (report, false), fuel).0
}

/// What is known of the keys of a value, and the range of its text.
pub type Seen = (Keys, (usize, usize));

/// The same of a value that may be coerced, with what was seen of it.
pub fn read_by(
    text: &[u8],
    signature: &str,
    (report, coerce): (Report, bool),
    fuel: usize,
) -> (String, Option<Seen>) {
    let signature = parse(signature.as_bytes()).expect("a signature");
    let (types, id) = (&signature.types, signature.returns);
    let mut heap = PlainHeap::new();
    for name in [
        "optional",
        "list",
        "closed_map",
        "path",
        "message",
        "inspect",
        "kind",
        "unexpected",
    ] {
        heap.atom(name);
    }
    let of = type_term(&mut heap, types, id);
    let list = matches!(types.get(id), Type::List(_));
    let rules = rules::Rules::default();
    let ask = Ask::Type {
        exact: false,
        coerce,
        list,
        report,
        rules,
    };
    let mut reading = Reading::new(ask, of);
    let reply = loop {
        let mut meter = match fuel {
            usize::MAX => Meter::new(Limits::UNLIMITED, Pace::Quantum),
            fuel => Meter::with_fuel(Limits::UNLIMITED, fuel),
        };
        match reading.step(text, &mut heap, &mut meter) {
            Ok(reply) => break reply,
            Err(Stop::SliceOver) => reading = suspended(reading, &mut heap),
            Err(stop) => panic!("{stop:?}"),
        }
    };
    let show = |term: Term| heap.show(term);
    let (shown, found) = match reply {
        Reply::Right { value, found } => (
            format!("right {} {}", show(value), show(found.value)),
            found,
        ),
        Reply::Coerced {
            value,
            warnings,
            found,
        } => (format!("coerced {} {}", show(value), show(warnings)), found),
        Reply::Wrong {
            errors: Errors { list, line },
            found,
        } => {
            let line = line.map(|(line, more)| (show(line), more));
            let shown = format!("wrong {} {line:?} {}", show(list), show(found.value));
            (shown, found)
        }
        Reply::Hyphens(found) => (format!("hyphens {}", show(found.value)), found),
        Reply::Undecided(found) => (format!("undecided {}", show(found.value)), found),
        Reply::Unfit(unfit, found) => (format!("{unfit:?} {}", show(found.value)), found),
        other => return (format!("{other:?}"), None),
    };
    (shown, Some((found.keys, found.range)))
}

/// The term of a type, as the BEAM has it.
fn type_term(heap: &mut PlainHeap, types: &Types, id: TypeId) -> Term {
    let tagged = |heap: &mut PlainHeap, tag: &str, inner: Term| {
        let tag = heap.atom(tag);
        heap.tuple(&[tag, inner])
    };
    match types.get(id) {
        Type::Scalar(scalar) => heap.atom(scalar.name()),
        Type::Optional(inner) => {
            let inner = type_term(heap, types, inner);
            tagged(heap, "optional", inner)
        }
        Type::List(inner) => {
            let inner = type_term(heap, types, inner);
            tagged(heap, "list", inner)
        }
        Type::Map { fields, closed } => {
            let mut pairs = Vec::new();
            for field in fields.range() {
                let name = heap.make_string(types.field(field).name);
                let holds = type_term(heap, types, types.holds(field));
                pairs.push(heap.tuple(&[name, holds]));
            }
            let fields = heap.make_list(&pairs);
            tagged(heap, if closed { "closed_map" } else { "map" }, fields)
        }
        Type::OneOf(_) | Type::Ref(_) | Type::Defs(..) => heap.nil(),
        Type::MapOf(_) | Type::Where(..) | Type::Unknown(_) => heap.nil(),
    }
}

/// Feeds a stream, to measure its cost.
pub fn stream_cost(text: &[u8]) {
    for signature in SIGNATURES {
        let signature = parse(signature.as_bytes()).expect("a signature");
        let is_list = matches!(signature.types.get(signature.returns), Type::List(_));
        let plan = AnswerType::new(signature.types, signature.returns, is_list);
        let rules = Rules {
            caution: Caution::Early,
            prose: true,
        };
        let mut stream = Stream::new(plan, rules);
        for chunk in text.chunks(1 + text.len() % 7) {
            if stream.feed(chunk).is_some() {
                break;
            }
        }
    }
}

/// An object of any kind.
fn any_object() -> AnswerType {
    let mut types = Types::new();
    let any = types.add(Type::Scalar(Scalar::Any));
    AnswerType::new(types, any, false)
}

/// A text like an answer, built from JSON that the caller makes.
pub fn answer(rng: &mut Rng, mut json: impl FnMut(&mut Rng) -> String) -> Vec<u8> {
    const PIECES: &[&str] = &[
        "",
        "",
        " ",
        "Here: ",
        "[Note] ",
        "{x} ",
        "```",
        "```json\n",
        "\n```",
        "````",
        "```py\n",
        "`",
        "[1] ",
        "{a: 1}",
        "\"",
        "\\",
        "é",
        "{\"a\": \"```\"} ",
        "[1,",
    ];
    let mut text = Vec::new();
    for _ in 0..1 + rng.below(4) {
        text.extend_from_slice(rng.pick(PIECES).as_bytes());
        if !rng.once_in(3) {
            text.extend_from_slice(json(rng).as_bytes());
        }
        text.extend_from_slice(rng.pick(PIECES).as_bytes());
    }
    text
}
