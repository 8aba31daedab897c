//! `split`: the parts of a text.

use super::part::{given, plan_parts, Phrases, TextsGiven};
use super::*;
use crate::typing::{rules, Next, Rule};
use ptc_machine::Work;
use ptc_text::Occurrences;

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
        machine.consume_fuel_to_copy(by)?;
        let by = machine.heap.bytes(by).unwrap_or_default().to_vec();
        machine.consume_fuel_at_once(Occurrences::cost(&by))?;
        machine.resumable_over(text, |machine, work| {
            if !work.progress.second {
                split(machine, text, &by, work)?;
                work.progress.second = true;
            }
            machine.list_of(work)
        })
    }

    fn types(rule: &mut Rule) -> Next {
        rules::values::text(rule)
    }
}

/// Makes the parts that are not made yet.
fn split<H: Heap>(
    machine: &mut Machine<'_, H>,
    text: H::Term,
    by: &[u8],
    work: &mut Work<H::Term>,
) -> Result<(), Halt<H::Term>> {
    loop {
        let from = work.progress.count;
        let (heap, meter) = (&*machine.heap, &mut machine.meter);
        let bytes = heap.bytes(text).unwrap_or_default();
        let next = Occurrences::new(bytes, by, from).next(|cost| meter.consume_fuel(cost, heap))?;
        let part = bytes[from..next.unwrap_or(bytes.len())].to_vec();
        let built = work.items.len() * WORDS_OF_ITEM;
        machine.check_heap_limit(built)?;
        let part = make_string(machine, &part)?;
        work.items.push(part);
        machine.meter.advanced();
        match next {
            Some(place) => work.progress.count = place + by.len(),
            None => return Ok(()),
        }
    }
}
