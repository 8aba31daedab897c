//! Reads the keyword list of a type's rules.

use super::format::Format;
use super::json::Members;
use super::number::Bound;
use super::{folded, name_of, pattern, Constraints, Enumeration, Places, Rule};
use crate::values::Values;
use crate::walk::WalkEnd;
use ptc_term::heap::Kind;
use ptc_term::meter::Meter;
use std::collections::HashMap;

/// Up to this many texts of an enumeration are compared one by one.
const FEW: usize = 8;
/// Fuel for a rule, and bytes of texts that are copied for one unit.
const RULE: usize = 8;
const BYTES_A_UNIT: usize = 8;

impl Constraints {
    /// Reads the rules; `Ok(None)` if they are not well formed.
    pub fn read<H: Values>(
        heap: &H,
        rules: H::Term,
        meter: &mut Meter,
    ) -> Result<Option<Constraints>, WalkEnd> {
        let mut made = Constraints::default();
        let (mut rest, mut seen, mut ignores_case) = (rules, 0_u32, false);
        while let Some((pair, tail)) = heap.uncons(rest) {
            rest = tail;
            meter.consume_fuel(RULE, heap)?;
            let rule = match heap.elements(pair) {
                Some([key, value]) if heap.is_name(*key) => {
                    heap.with_name(*key, Rule::named).map(|rule| (rule, *value))
                }
                _ => None,
            };
            let Some((rule, value)) = rule else {
                return Ok(None);
            };
            let bit = 1 << rule as u32;
            if seen & bit != 0 {
                return Ok(None);
            }
            seen |= bit;
            let is_true = heap.is_bool(value) && heap.truthy(value);
            let good = match rule {
                Rule::Min | Rule::Max | Rule::ExclusiveMin | Rule::ExclusiveMax => {
                    meter.consume_fuel(heap.limbs(value), heap)?;
                    let bound = Bound::of(heap, value);
                    bound.map(|bound| made.bounds.push((rule, bound))).is_some()
                }
                Rule::MultipleOf => {
                    meter.consume_fuel(heap.limbs(value), heap)?;
                    made.multiple_of = Bound::of(heap, value).filter(Bound::is_positive);
                    made.multiple_of.is_some()
                }
                Rule::MinLength => least(heap, value, &mut made.length),
                Rule::MaxLength => most(heap, value, &mut made.length),
                Rule::MinItems => least(heap, value, &mut made.items),
                Rule::MaxItems => most(heap, value, &mut made.items),
                Rule::Pattern => {
                    let text = heap
                        .bytes(value)
                        .and_then(|text| std::str::from_utf8(text).ok());
                    made.pattern = match text {
                        Some(text) => {
                            pattern::compiled(text, |cost| meter.consume_fuel(cost, heap))?
                        }
                        None => None,
                    };
                    made.pattern.is_some()
                }
                Rule::Format => {
                    let is_name = heap.is_name(value);
                    let named = is_name.then(|| heap.with_name(value, Format::named));
                    made.format = named.flatten();
                    made.format.is_some()
                }
                Rule::Enum => {
                    made.enumeration = enumeration(heap, value, meter)?;
                    made.enumeration.is_some()
                }
                Rule::IgnoreCase => {
                    ignores_case = is_true;
                    is_true
                }
                Rule::Aliases => {
                    made.aliases = heap.map_size(value).is_some();
                    made.aliases
                }
                Rule::Default => {
                    made.default = true;
                    true
                }
                Rule::Description => heap.kind(value) == Kind::String,
                Rule::Unique => {
                    made.unique = is_true;
                    is_true
                }
                Rule::YesNo => {
                    made.yes_no = is_true;
                    is_true
                }
                Rule::Struct => is_true,
                Rule::Whole => {
                    made.whole = is_true;
                    is_true
                }
            };
            if !good {
                return Ok(None);
            }
        }
        if ignores_case {
            made.folded = folded_texts(heap, rules, meter)?;
        }
        Ok(heap.is_empty_list(rest).then_some(made))
    }
}

fn count<H: Values>(heap: &H, value: H::Term) -> Option<u64> {
    heap.small_integer(value)
        .and_then(|count| u64::try_from(count).ok())
}

fn least<H: Values>(heap: &H, value: H::Term, range: &mut Option<(u64, u64)>) -> bool {
    let count = count(heap, value);
    let (_, most) = range.unwrap_or((0, u64::MAX));
    count.map(|least| *range = Some((least, most))).is_some()
}

fn most<H: Values>(heap: &H, value: H::Term, range: &mut Option<(u64, u64)>) -> bool {
    let count = count(heap, value);
    let (least, _) = range.unwrap_or((0, u64::MAX));
    count.map(|most| *range = Some((least, most))).is_some()
}

impl Members {
    /// Adds a value that is no text.
    fn add<H: Values>(&mut self, heap: &H, value: H::Term) {
        if heap.is_name(value) {
            self.names.push(heap.with_name(value, |name| name.into()));
        } else if heap.is_nil(value) {
            self.names.push((*b"nil").into());
        } else if heap.is_bool(value) {
            let name: &[u8] = if heap.truthy(value) {
                b"true"
            } else {
                b"false"
            };
            self.names.push(name.into());
        } else if heap.kind(value) == Kind::Number {
            match Bound::of(heap, value) {
                Some(number) => self.numbers.push(number),
                None => self.others = true,
            }
        } else {
            self.others = true;
        }
    }
}

fn enumeration<H: Values>(
    heap: &H,
    values: H::Term,
    meter: &mut Meter,
) -> Result<Option<Enumeration>, WalkEnd> {
    let (mut rest, mut texts, mut all) = (values, Vec::new(), 0);
    let mut others = Members::default();
    while let Some((value, tail)) = heap.uncons(rest) {
        (rest, all) = (tail, all + 1);
        let length = heap.byte_length(value).unwrap_or(0);
        meter.consume_fuel(
            2 + (length + heap.bytes_to_copy(value)) / BYTES_A_UNIT + heap.limbs(value),
            heap,
        )?;
        match heap.bytes(value) {
            Some(text) => texts.push(Box::<[u8]>::from(text)),
            None => others.add(heap, value),
        }
    }
    if all == 0 || !heap.is_empty_list(rest) {
        return Ok(None);
    }
    Ok(Some(match texts.len() {
        count if count < all => Enumeration::Terms(Box::new(Members { texts, ..others })),
        ..=FEW => Enumeration::Few(texts),
        _ => Enumeration::Many(texts.into_iter().zip(0..).collect()),
    }))
}

/// Returns the places of the texts of an enumeration, by their forms in lower case. Of equal ones the first counts.
fn folded_texts<H: Values>(
    heap: &H,
    rules: H::Term,
    meter: &mut Meter,
) -> Result<Option<Places>, WalkEnd> {
    let mut places = HashMap::new();
    let mut rest = Rule::Enum.value(heap, rules).unwrap_or(rules);
    let mut place = 0;
    while let Some((value, tail)) = heap.uncons(rest) {
        rest = tail;
        meter.consume_fuel(2 + heap.byte_length(value).unwrap_or(0), heap)?;
        if let Some(text) = name_of(heap, value, folded) {
            places.entry(text).or_insert(place);
        }
        place += 1;
    }
    Ok(Some(places))
}
