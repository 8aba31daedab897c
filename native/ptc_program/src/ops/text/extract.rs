//! `extract`: what the matches of a pattern are.

use super::pattern::{is_utf8, PATTERN};
use super::*;
use crate::shape::{OpShape, TextOf};
use ptc_kernels::Listing;
use ptc_term::roots::Roots;
use ptc_text::{Matches, Pattern};

pub(in super::super) struct Extract;

/// Mode of an evaluation that gives what each match is.
const ALL: u32 = 8;
/// Words of an item of a list.
const WORDS_OF_ITEM: usize = 2;

impl Operation for Extract {
    const NAME: &'static str = "extract";
    const FAMILY: &'static str = FAMILY;
    const ABOUT: &'static str =
        "The first match of the pattern; its groups as a list, named ones as an object; null if there is none.";
    const TYPES: &'static str = "text to text or null; with groups, to what they are";
    const SHAPE: OpShape = OpShape::Text(TextOf::Extract);
    const EDITION: Edition = Edition::Two;
    const FIELDS: &'static [Field] = &[
        Field::optional(
            "all",
            FieldKind::Boolean,
            "true: the list of what each match gives",
        )
        .must_be("'all' must be true or false"),
        FIELD,
        PATTERN,
        VALUE_FIELD,
    ];

    fn check(plan: &Plan) -> Planned {
        check(plan)
    }

    fn plan(plan: &mut Plan) -> Planned {
        let all = plan.field("all").and_then(|all| plan.boolean(all));
        let (operands, key, mode) = plan_input(plan, VALUE_FIELD);
        let pattern = plan.pattern_of("pattern");
        let mode = match all {
            Some(true) => mode | ALL,
            _ => mode,
        };
        plan.apply(operands, (key, pattern, mode));
        Ok(())
    }

    fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
        let Some(text) = text(machine, apply)? else {
            return Ok(machine.heap.nil());
        };
        let Some(pattern) = machine.pattern(apply.value) else {
            return Ok(machine.heap.nil());
        };
        let begin = |_: &mut Machine<'_, H>| Extraction {
            text,
            ongoing: Ongoing::default(),
            is_utf8: false,
            is_searched: false,
            items: Roots::default(),
            listing: Listing::default(),
        };
        machine.resumable(begin, |machine, work| {
            if !work.is_utf8 {
                if !is_utf8(machine, text, &mut work.ongoing)? {
                    return Err(requires(machine, apply.op, "a string", vec![text]));
                }
                work.is_utf8 = true;
            }
            if apply.mode & ALL == 0 {
                let matches = &mut work.ongoing.matches;
                let first = next(machine, text, pattern, matches)?;
                matches.end(pattern);
                return Ok(first.unwrap_or(machine.heap.nil()));
            }
            if !work.is_searched {
                all(machine, text, pattern, work)?;
                work.is_searched = true;
            }
            Ok(work.listing.all(machine, &work.items)?)
        })
    }
}

/// What the matches in a text give so far.
#[derive(Debug, Clone, PartialEq)]
pub struct Extraction<T> {
    pub(super) text: T,
    ongoing: Ongoing,
    is_utf8: bool,
    is_searched: bool,
    items: Roots<T>,
    listing: Listing<T>,
}

rooted!(Extraction { terms: text; states: items, listing; plain: ongoing, is_utf8, is_searched });

/// Makes what each match gives, from the last one on.
fn all<H: Heap>(
    machine: &mut Machine<'_, H>,
    text: H::Term,
    pattern: &Pattern,
    work: &mut Extraction<H::Term>,
) -> Result<(), Halt<H::Term>> {
    let matches = &mut work.ongoing.matches;
    loop {
        machine.check_heap_limit(WORDS_OF_ITEM * work.items.len())?;
        let Some(value) = next(machine, text, pattern, matches)? else {
            matches.end(pattern);
            return Ok(());
        };
        matches.take();
        work.items.push(value);
        machine.meter.advanced();
    }
}

/// Makes what the next match gives.
fn next<H: Heap>(
    machine: &mut Machine<'_, H>,
    text: H::Term,
    pattern: &Pattern,
    matches: &mut Matches,
) -> Result<Option<H::Term>, Halt<H::Term>> {
    let found = {
        let (heap, meter) = machine.heap_and_meter();
        let bytes = heap.bytes(text).unwrap_or_default();
        let mut counting = counting(heap, meter, true);
        matches.next(pattern, bytes, |cost| counting(cost, 0))?
    };
    match found {
        None => Ok(None),
        Some((span, [])) => part(machine, text, Some(span)).map(Some),
        Some((_, groups)) => value_of(machine, text, pattern, groups).map(Some),
    }
}

/// Makes the value of a match: a map of the groups that have names, or a list of all.
fn value_of<H: Heap>(
    machine: &mut Machine<'_, H>,
    text: H::Term,
    pattern: &Pattern,
    groups: &[Option<(usize, usize)>],
) -> Eval<H> {
    if !pattern.has_names() {
        let parts: Result<Vec<_>, _> = (groups.iter())
            .map(|place| part(machine, text, *place))
            .collect();
        return Ok(machine.make_list(&parts?)?);
    }
    let (mut keys, mut values) = (Vec::new(), Vec::new());
    for (name, place) in pattern.names().zip(groups) {
        let Some(name) = name else { continue };
        keys.push(machine.make_text(name.as_bytes())?);
        values.push(part(machine, text, *place)?);
    }
    machine.count_new_map(keys.len())?;
    Ok(machine.heap.make_map(&keys, &values))
}

/// Makes a part of the text; `nil` if it has no place.
fn part<H: Heap>(
    machine: &mut Machine<'_, H>,
    text: H::Term,
    place: Option<(usize, usize)>,
) -> Eval<H> {
    let Some((start, end)) = place else {
        return Ok(machine.heap.nil());
    };
    machine.check_heap_limit(words_of_string(end - start))?;
    let bytes = machine.heap.bytes(text).unwrap_or_default();
    let part = bytes[start..end].to_vec();
    Ok(machine.make_text(&part)?)
}
