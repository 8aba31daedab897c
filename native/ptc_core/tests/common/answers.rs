//! Properties of every text that can be an LLM's answer.

use super::oracle::shown;
use super::rng::Rng;
use ptc_core::answer::stream::{Caution, Rules, Stream};
use ptc_core::answer::{read_answer, NoAnswer};
use ptc_core::heap::Heap;
use ptc_core::plain::PlainHeap;
use ptc_core::signature::{parse, AnswerType, Scalar, Type, Types};
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
/// accepts any other text; its partial value is always available.
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
    false
}

/// Finds and reads the JSON of an answer, to measure its cost.
pub fn extractor_cost(text: &[u8]) {
    let _ = read_answer(text, &mut PlainHeap::new());
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
