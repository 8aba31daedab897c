//! The value that an operation reads, and the keys of items.

use crate::typing::finding::Subject;
use crate::typing::names::NameId;
use crate::typing::rule::Rule;
use crate::typing::ty::{Kinds, TyId};
use crate::typing::walk::{How, Next};

/// A value that an operation reads.
#[derive(Debug, Clone, Copy)]
pub struct InputOf {
    /// Its type.
    pub ty: TyId,
    /// Which value it is.
    pub subject: Subject,
}

/// Returns the value of an operation on one value: `value`, a field of the current value, or that itself.
pub fn one(rule: &mut Rule, how: How) -> Result<InputOf, Next> {
    if rule.field("value").is_none() {
        return Ok(own(rule));
    }
    match rule.stage {
        0 => Err(rule.visit("value", how)),
        1 => {
            *rule.kept(0) = rule.last();
            Ok(operand(rule.last(), "value"))
        }
        _ => Ok(operand(*rule.kept(0), "value")),
    }
}

/// The number of parts that [`one`] visits.
pub fn visited(rule: &Rule) -> u32 {
    u32::from(rule.field("value").is_some())
}

/// A value in a field of the operation.
pub fn operand(ty: TyId, name: &'static str) -> InputOf {
    InputOf {
        ty,
        subject: Subject::Operand(name),
    }
}

/// Returns a field of the current value, or that itself.
pub fn own(rule: &mut Rule) -> InputOf {
    let input = rule.input();
    match rule.name("field") {
        Some(name) => {
            let node = rule.place("field");
            let object = rule.need(input, Kinds::OBJECT, Subject::Input, node);
            InputOf {
                ty: rule.read(object, name, node, false),
                subject: Subject::Field(name),
            }
        }
        None => InputOf {
            ty: input,
            subject: Subject::Input,
        },
    }
}

/// The keys of the items of the current list.
#[derive(Debug, Clone, Copy)]
pub struct KeysOf {
    /// The type of a key.
    pub ty: TyId,
    /// The type of an item.
    pub item: TyId,
    /// Which value is meant.
    pub subject: Subject,
}

/// Returns the keys: the value of `expr` for each item, a field of each, or the item itself.
pub fn keys(rule: &mut Rule) -> Result<KeysOf, Next> {
    if rule.stage > 0 {
        let item = *rule.kept(0);
        return Ok(KeysOf {
            ty: rule.last_for(item),
            item,
            subject: Subject::Operand("expr"),
        });
    }
    let item = rule.items();
    *rule.kept(0) = item;
    if rule.field("expr").is_some() {
        return Err(rule.each("expr", item));
    }
    let (ty, subject) = match rule.name("field") {
        Some(name) => (item_field(rule, item, name), Subject::ItemsField(name)),
        None => (item, Subject::Items),
    };
    Ok(KeysOf { ty, item, subject })
}

/// Returns what is read of each item at a key.
pub fn item_field(rule: &mut Rule, item: TyId, name: NameId) -> TyId {
    let node = rule.place("field");
    read_item(rule, item, name, node)
}

/// The same, for a field that a finding names as this part.
pub fn read_item(rule: &mut Rule, item: TyId, name: NameId, node: u32) -> TyId {
    let object = rule.need(item, Kinds::OBJECT, Subject::Items, node);
    rule.read(object, name, node, false)
}
