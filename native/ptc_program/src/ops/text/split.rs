//! `split`: the parts of a text.

use super::part::{given, plan_parts, Phrases, TextsGiven};
use super::*;
use crate::shape::{OpShape, TextOf};
use ptc_kernels::Listing;
use ptc_term::roots::Roots;
use ptc_text::Ongoing;

pub(in super::super) struct Split;

const BY: &[Phrases] = &[Phrases {
    string: "a string in 'by'",
    not_empty: "a non-empty string in 'by'",
}];

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
                machine.split_by(text, by, &mut work.ongoing, &mut work.items)?;
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
