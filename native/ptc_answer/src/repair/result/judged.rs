//! The value of a repaired text: built, and judged where it is an answer.

use crate::judge::{Judge, Report, Verdict};
use crate::object_or_list;
use crate::repair::{Refusal, Repaired};
use ptc_json::{PartialValue, TermBuilder};
use ptc_term::meter::{Meter, Pace};
use ptc_term::stop::Stop;
use ptc_term::workspace::Workspace;
use ptc_type::{Rules, Values};

/// The answer that is expected.
#[derive(Debug, Clone, Copy)]
pub struct AnswerOf<T> {
    /// The type is that of a list, which may be wrapped in an object.
    pub list: bool,
    /// The type, and by which rules it is checked; `None` for any.
    pub of: Option<(T, Rules)>,
}

/// Builds the value of a repaired text; `exact`: its numbers keep their digits, see [`PartialValue::new`]. Where it is an `answer`, it is judged, and the hyphens of its keys become
/// underscores. Returns the value and whether it is valid; if it is not, only Elixir can decide.
pub fn judged_value<H: Values>(
    (heap, meter): (&mut H, &mut Meter),
    repaired: &Repaired,
    answer: Option<AnswerOf<H::Term>>,
    exact: bool,
) -> Result<(H::Term, bool), Refusal> {
    let (whole, hyphens) = build(heap, repaired, (false, exact), meter)?;
    let Some(AnswerOf { list, of }) = answer else {
        return Ok((whole, true));
    };
    let value = object_or_list(heap, whole, list).map_err(|_| Refusal::NoReading)?;
    let verdict = match of {
        None => Verdict::Right,
        Some((of, rules)) => Judge {
            heap: &mut *heap,
            value,
            rules,
            report: Report::Nothing,
            meter: &mut *meter,
        }
        .whole(of),
    };
    match verdict {
        Verdict::Right if hyphens => {
            let words = meter.limits.words;
            // The first value is dropped.
            meter.limits.words = words.saturating_add(heap.words_built());
            let built = build(heap, repaired, (true, exact), meter);
            meter.limits.words = words;
            let (whole, repeated) = built?;
            match repeated {
                // Two keys of an object became equal.
                true => Ok((value, false)),
                false => Ok((object_or_list(heap, whole, list).unwrap_or(value), true)),
            }
        }
        Verdict::Right => Ok((value, true)),
        Verdict::Busy if meter.pace() != Pace::Quantum => Err(Stop::SliceOver.into()),
        Verdict::Stopped(stop) => Err(stop.into()),
        Verdict::Busy | Verdict::Wrong(_) | Verdict::Undecided | Verdict::Left(..) => {
            Ok((value, false))
        }
    }
}

/// Builds the value. The flag reports whether a key has a hyphen or, if hyphens become underscores, whether
/// two keys of an object became equal.
fn build<H: Values>(
    heap: &mut H,
    repaired: &Repaired,
    (underscored, exact): (bool, bool),
    meter: &mut Meter,
) -> Result<(H::Term, bool), Stop> {
    let work = Workspace::in_one_go(heap, meter);
    let mut builder = match underscored {
        true => TermBuilder::underscored(work),
        false => TermBuilder::resume(work, PartialValue::new(exact)),
    };
    repaired.replay(&mut builder)?;
    let remark = match underscored {
        true => builder.has_repeated(),
        false => builder.has_hyphens(),
    };
    Ok((builder.finish(), remark))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repair::{repair, Wanted};
    use ptc_term::meter::Limits;
    use ptc_term::plain::PlainHeap;
    use ptc_type::plain::heap_of_types;
    use ptc_type::{parse, AnswerType, TypeTerms};

    /// The value, and whether it is valid.
    fn judged(signature: &str, list: bool, text: &str) -> Result<(String, bool), Refusal> {
        let signature = parse(signature.as_bytes()).unwrap();
        let mut heap = heap_of_types();
        let atoms = heap.type_atoms();
        let of = TypeTerms::of(&mut heap, &atoms, &signature.types).term(signature.returns);
        let mut wanted = Wanted::new(AnswerType::new(signature.types, signature.returns, list));
        wanted.hyphens = true;
        let mut meter = Meter::new(Limits::UNLIMITED, Pace::Quantum);
        let repaired = repair(text.as_bytes(), &wanted, &mut meter, &PlainHeap::new())?;
        let of = Some((of, Rules::NEWEST));
        let answer = Some(AnswerOf { list, of });
        let judged = judged_value((&mut heap, &mut meter), &repaired, answer, false)?;
        Ok((heap.show(judged.0), judged.1))
    }

    #[test]
    fn a_value_of_the_type_is_valid() {
        let value = judged("{a :int}", false, "{'a': 1,}").unwrap();
        assert_eq!(value, (r#"%{"a" => 1}"#.to_string(), true));
    }

    #[test]
    fn hyphens_become_underscores_unless_keys_become_equal() {
        let value = judged("{a_b :int}", false, "{'a-b': 1}").unwrap();
        assert_eq!(value, (r#"%{"a_b" => 1}"#.to_string(), true));
        let (_, valid) = judged("{a_b :int}", false, "{'a-b': 1, 'a_b': 1}").unwrap();
        assert!(!valid);
    }

    #[test]
    fn a_list_may_be_wrapped_in_an_object() {
        let value = judged("[:int]", true, "{'items': [1, 2]}").unwrap();
        assert_eq!(value, ("[1, 2]".to_string(), true));
    }

    #[test]
    fn dates_are_left_to_elixir() {
        let (_, valid) = judged("{at :datetime}", false, "{'at': '2024-01-01T00:00:00Z'}").unwrap();
        assert!(!valid);
    }
}
