//! `split`: the parts of a text.

use super::part::{given, plan_parts, Phrases, TextsGiven};
use super::*;
use crate::shape::{OpShape, TextOf};
use ptc_kernels::Listing;
use ptc_term::roots::Roots;
use ptc_text::{Occurrences, Ongoing};

pub(in super::super) struct Split;

const BY: &[Phrases] = &[Phrases {
    string: "a string in 'by'",
    not_empty: "a non-empty string in 'by'",
}];

/// Words of an item of a list.
const WORDS_OF_ITEM: usize = 2;

impl Operation for Split {
    const NAME: &'static str = "split";
    const FAMILY: &'static str = FAMILY;
    const ABOUT: &'static str =
        "The list of the parts of the text between the occurrences of another one.";
    const TYPES: &'static str = "text to [text]; null to null";
    const SHAPE: OpShape = OpShape::Text(TextOf::Split);
    const EDITION: Edition = Edition::Two;
    const FIELDS: &'static [Field] = &[
        Field::required(
            "by",
            FieldKind::NonEmptyText,
            "what stands between the parts",
        )
        .must_be("'by' must not be empty"),
        FIELD,
        VALUE_FIELD,
    ];

    fn check(plan: &Plan) -> Planned {
        check(plan)
    }

    fn plan(plan: &mut Plan) -> Planned {
        plan_parts(plan, &["by"])
    }

    fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
        let (text, by) = match given(machine, apply, BY)? {
            TextsGiven::Value(value) => return Ok(value),
            TextsGiven::Texts(text, texts) => (text, texts[0]),
        };
        let begin = |_: &mut Machine<'_, H>| Splitting {
            text,
            ongoing: Ongoing::default(),
            is_split: false,
            items: Roots::default(),
            listing: Listing::default(),
        };
        machine.resumable(begin, |machine, work| {
            if !work.is_split {
                split(machine, text, by, work)?;
                work.is_split = true;
            }
            Ok(work.listing.all(machine, &work.items)?)
        })
    }
}

/// The parts of a text so far.
#[derive(Debug, Clone, PartialEq)]
pub struct Splitting<T> {
    pub(super) text: T,
    ongoing: Ongoing,
    is_split: bool,
    items: Roots<T>,
    listing: Listing<T>,
}

rooted!(Splitting { terms: text; states: items, listing; plain: ongoing, is_split });

/// Makes the parts that are not made yet.
fn split<H: Heap>(
    machine: &mut Machine<'_, H>,
    text: H::Term,
    by: H::Term,
    work: &mut Splitting<H::Term>,
) -> Result<(), Halt<H::Term>> {
    let Ongoing { at, places, .. } = &mut work.ongoing;
    let places = prepared(machine, by, places)?;
    loop {
        let next = {
            let (heap, meter) = machine.heap_and_meter();
            let bytes = heap.bytes(text).unwrap_or_default();
            let mut counting = counting(heap, meter);
            places.next(bytes, |cost| counting(cost, 0))?
        };
        let end = next.or(machine.heap.byte_length(text)).unwrap_or(*at);
        let built = work.items.len() * WORDS_OF_ITEM;
        machine.check_heap_limit(built + words_of(end - *at))?;
        let part = machine.heap.bytes(text).unwrap_or_default()[*at..end].to_vec();
        let part = make_string(machine, &part)?;
        work.items.push(part);
        machine.meter.advanced();
        places.take();
        match next {
            Some(place) => *at = place + places.length(),
            None => return Ok(()),
        }
    }
}

/// Prepares the search for a part, unless that was done before.
pub(super) fn prepared<'o, H: Heap>(
    machine: &mut Machine<'_, H>,
    part: H::Term,
    places: &'o mut Option<Box<Occurrences>>,
) -> Result<&'o mut Occurrences, Halt<H::Term>> {
    if let Some(places) = places {
        return Ok(places);
    }
    machine.consume_fuel_to_copy(part)?;
    let length = machine.heap.byte_length(part).unwrap_or(0);
    machine.consume_fuel_at_once(Occurrences::cost(length))?;
    let part = machine.heap.bytes(part).unwrap_or_default();
    Ok(places.insert(Box::new(Occurrences::new(part))))
}
