//! Comparisons, and what they say about the current value.

use super::input::{given, InputOf};
use crate::edition::Edition;
use crate::opcode::OpCode;
use crate::shape::{Comparison, OpShape};
use crate::typing::finding::{Detail, FindingCode, Subject};
use crate::typing::rule::Rule;
use crate::typing::ty::{Kinds, Ty, TyId};
use crate::typing::walk::Facts;

const PARTS: Kinds = Kinds::LIST.or(Kinds::OBJECT);

/// The type of a comparison.
pub fn comparison(rule: &mut Rule, of: Comparison) -> TyId {
    let current = rule.current;
    let left = given(rule, "left");
    // What it says is about the current value as it is, also where there is none.
    rule.current = current;
    let right = match rule.field("value") {
        Some(_) => rule.part("value"),
        None => TyId::NULL,
    };
    let kinds = (rule.types().kinds(left.ty), rule.types().kinds(right));
    if kinds.0.meets(PARTS) && left.ty != TyId::UNKNOWN {
        rule.read_all(left.ty);
    }
    if kinds.1.meets(PARTS) {
        rule.read_all(right);
    }
    if let (false, false) = (kinds.0.is_empty(), kinds.1.is_empty()) {
        warn(rule, of, left, right, kinds);
    }
    let two = rule.edition() == Edition::Two;
    let (yes, no) = match of {
        Comparison::Equal(true) => (kinds.1, other_than(right)),
        Comparison::Equal(false) => (other_than(right), kinds.1),
        Comparison::Order(_) if two => (kinds.1.without(Kinds::NULL), Kinds::ALL),
        Comparison::In if two && kinds.1 == Kinds::LIST => {
            let item = rule.types().item(right);
            (rule.types().kinds(item).or(PARTS), Kinds::ALL)
        }
        Comparison::Begins | Comparison::Ends => (Kinds::TEXT.or(Kinds::OTHER), Kinds::ALL),
        _ => (Kinds::ALL, Kinds::ALL),
    };
    note(rule, of, left, right, (yes, no));
    TyId::BOOL
}

/// Returns the kinds of the values that are not equal to one of this type.
fn other_than(right: TyId) -> Kinds {
    match right {
        TyId::NULL => Kinds::ALL.without(Kinds::NULL),
        _ => Kinds::ALL,
    }
}

/// Notes what the comparison says about the current value.
pub fn note(
    rule: &mut Rule,
    of: Comparison,
    left: InputOf,
    right: TyId,
    (yes, no): (Kinds, Kinds),
) {
    let input = rule.current;
    let narrowed = |rule: &mut Rule, kinds: Kinds| match left.subject {
        Subject::Input => rule.types().only(input, kinds),
        Subject::Field(name) => rule.types().narrowed(input, name, kinds),
        _ => input,
    };
    match left.subject {
        Subject::Input | Subject::Field(_) => {
            let (yes, no) = (narrowed(rule, yes), narrowed(rule, no));
            rule.facts = Some(Facts { yes, no });
        }
        _ => match kinds_of_typeof(rule, right) {
            Some(kinds) => {
                let is = rule.types().only(input, kinds);
                let is_not = rule.types().only(input, Kinds::ALL.without(kinds));
                rule.facts = match of {
                    Comparison::Equal(true) => Some(Facts {
                        yes: is,
                        no: is_not,
                    }),
                    Comparison::Equal(false) => Some(Facts {
                        yes: is_not,
                        no: is,
                    }),
                    _ => None,
                };
            }
            None if right == TyId::NULL => rule.walk.tests += 1,
            None => {}
        },
    }
}

/// Returns the kind that the comparison asks for, if its left side is the `typeof` of the current value.
fn kinds_of_typeof(rule: &mut Rule, right: TyId) -> Option<Kinds> {
    let left = rule.field("left")?;
    let source = rule.source;
    let name = source.field(left, "op").and_then(|name| source.text(name));
    let op = name.and_then(|name| OpCode::from_name(name, Edition::Two));
    if op.map(OpCode::shape) != Some(OpShape::Kind) || source.size(left) != 1 {
        return None;
    }
    let Ty::TextOf(name) = rule.types().get(right) else {
        return None;
    };
    let kinds = match rule.types().names.get(name) {
        b"null" => Kinds::NULL,
        b"object" => Kinds::OBJECT,
        b"list" => Kinds::LIST,
        b"string" => Kinds::TEXT.or(Kinds::OTHER),
        b"number" => Kinds::NUMBER,
        b"boolean" => Kinds::BOOL,
        _ => Kinds::NONE,
    };
    Some(kinds)
}

fn warn(rule: &mut Rule, of: Comparison, left: InputOf, right: TyId, kinds: (Kinds, Kinds)) {
    if left.ty == TyId::UNKNOWN || right == TyId::UNKNOWN {
        return;
    }
    let (node, two) = (rule.node, rule.edition() == Edition::Two);
    if undated(rule, of, left, right) {
        return;
    }
    let always = |rule: &mut Rule, holds: bool| {
        let details = vec![
            Detail::Bool(holds),
            Detail::Subject(left.subject),
            Detail::KindsOf(left.ty),
            Detail::KindsOf(right),
        ];
        rule.warn(FindingCode::Always, node, details);
    };
    let some = (kinds.0.without(Kinds::NULL), kinds.1.without(Kinds::NULL));
    match of {
        Comparison::Equal(equal) if !kinds.0.meets(kinds.1) => always(rule, !equal),
        Comparison::Equal(_) => enumerated(rule, left, right),
        Comparison::Order(_) if two && some.0.meets(some.1) => {}
        Comparison::Order(_) if two => always(rule, false),
        Comparison::Order(greater) => match (rank(kinds.0), rank(kinds.1)) {
            (Some(left), Some(right)) if left != right => always(rule, (left > right) == greater),
            (None, Some(0)) if greater && kinds.0.meets(Kinds::NULL) => {
                rule.warn(
                    FindingCode::NullIsGreater,
                    node,
                    vec![Detail::Subject(left.subject)],
                );
            }
            _ => {}
        },
        Comparison::Contains => {
            let item = rule.types().item(left.ty);
            let of_item = rule.types().kinds(item);
            let holds = kinds.0.meets(Kinds::TEXT) && kinds.1.meets(Kinds::TEXT)
                || kinds.0.meets(Kinds::LIST) && (of_item.is_empty() || of_item.meets(kinds.1))
                || kinds.0.meets(Kinds::OBJECT) && kinds.1.meets(Kinds::TEXT.or(Kinds::OTHER));
            if !holds {
                always(rule, false);
            }
        }
        Comparison::In if two && !kinds.0.meets(PARTS) && !kinds.1.meets(PARTS) => {
            always(rule, false)
        }
        Comparison::In if two && !kinds.0.meets(PARTS) && kinds.1 == Kinds::LIST => {
            let item = rule.types().item(right);
            let of_item = rule.types().kinds(item);
            if !of_item.is_empty() && !of_item.meets(kinds.0) {
                always(rule, false);
            }
        }
        _ => {}
    }
}

/// Warns of a date or a time beside a text that is none, nor the beginning of one where the order is asked for.
fn undated(rule: &mut Rule, of: Comparison, left: InputOf, right: TyId) -> bool {
    let ordered = matches!(of, Comparison::Order(_));
    if !rule.walk.values || !ordered && !matches!(of, Comparison::Equal(_)) {
        return false;
    }
    let value = Subject::Operand("value");
    for (subject, date, text) in [(left.subject, left.ty, right), (value, right, left.ty)] {
        let types = rule.types();
        let Ty::TextOf(name) = types.get(text) else {
            continue;
        };
        let is_moment = types.not_null(date) == TyId::MOMENT;
        let text = types.names.get(name);
        let begins = ordered && ptc_date::read_beginning(text).is_some();
        if is_moment && !begins && ptc_date::read(text).is_none() {
            let details = vec![Detail::Subject(subject), Detail::Name(name)];
            rule.warn(FindingCode::NoDate, rule.node, details);
            return true;
        }
    }
    false
}

/// Returns the place of a kind in the order of all terms, if it is one kind.
fn rank(kinds: Kinds) -> Option<u8> {
    match kinds {
        Kinds::NUMBER => Some(0),
        Kinds::NULL | Kinds::BOOL => Some(1),
        Kinds::OBJECT => Some(2),
        Kinds::LIST => Some(3),
        Kinds::TEXT => Some(4),
        _ => None,
    }
}

/// Warns of a value that is not one of those that the left side can have.
fn enumerated(rule: &mut Rule, left: InputOf, right: TyId) {
    let Ty::TextOf(value) = rule.types().get(right) else {
        return;
    };
    let mut values = Vec::new();
    for member in rule.types().members(&left.ty).to_vec() {
        match rule.types().get(member) {
            Ty::TextOf(known) if known == value => return,
            Ty::TextOf(known) => values.push(known),
            _ if rule.types().kinds(member).meets(Kinds::TEXT) => return,
            _ => {}
        }
    }
    if values.is_empty() {
        return;
    }
    let node = rule.place("value");
    let details = vec![
        Detail::Subject(left.subject),
        Detail::Name(value),
        Detail::Names(values),
    ];
    rule.warn(FindingCode::NotInEnumeration, node, details);
}
