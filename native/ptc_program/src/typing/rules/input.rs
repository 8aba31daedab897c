//! The value that an operation reads, and the keys of items.

use crate::analysis::names::NameId;
use crate::typing::finding::Subject;
use crate::typing::rule::Rule;
use crate::typing::ty::{Kinds, TyId};
use ptc_json::Node;

/// A value that an operation reads.
#[derive(Debug, Clone, Copy)]
pub struct InputOf {
    /// Its type.
    pub ty: TyId,
    /// Which value it is.
    pub subject: Subject,
}

/// Returns the value that an operation works on: what a field of it gives, a field of the current value, or that itself.
pub fn given(rule: &mut Rule, name: &'static str) -> InputOf {
    match rule.field(name) {
        Some(_) => InputOf {
            ty: rule.part(name),
            subject: Subject::Operand(name),
        },
        None => own(rule),
    }
}

/// Returns a field of the current value, or that itself. It is read once.
fn own(rule: &mut Rule) -> InputOf {
    let name = rule.name("field");
    let subject = name.map_or(Subject::Input, Subject::Field);
    if !rule.own().begun {
        let input = rule.input();
        let ty = match name {
            Some(name) => {
                let node = rule.place("field");
                let object = rule.need(input, Kinds::OBJECT, Subject::Input, node);
                rule.read(object, name, node, false)
            }
            None => input,
        };
        let own = rule.own();
        (own.begun, own.of) = (true, ty);
    }
    let ty = rule.own().of;
    InputOf { ty, subject }
}

/// Returns the type of an item of the current list. It is read once.
pub fn item(rule: &mut Rule) -> TyId {
    if !rule.own().begun {
        let item = rule.items();
        let own = rule.own();
        (own.begun, own.of) = (true, item);
    }
    rule.own().of
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
    /// The part that findings about it name.
    pub node: Node,
}

/// Returns the keys: the value of `expr` for each item, a field of each, or the item itself.
pub fn keys(rule: &mut Rule) -> KeysOf {
    let item = item(rule);
    let (ty, subject, node) = if rule.field("expr").is_some() {
        let ty = rule.body("expr", item);
        (ty, Subject::Operand("expr"), rule.place("expr"))
    } else if let Some(name) = rule.name("field") {
        let ty = item_field(rule, item, name);
        (ty, Subject::ItemsField(name), rule.place("field"))
    } else {
        (item, Subject::Items, rule.node)
    };
    KeysOf {
        ty,
        item,
        subject,
        node,
    }
}

/// Returns what is read of each item at a key.
pub fn item_field(rule: &mut Rule, item: TyId, name: NameId) -> TyId {
    let node = rule.place("field");
    read_item(rule, item, name, node)
}

/// Returns what is read of each item at a key, which a finding names as this part.
pub fn read_item(rule: &mut Rule, item: TyId, name: NameId, node: Node) -> TyId {
    let object = rule.need(item, Kinds::OBJECT, Subject::Items, node);
    rule.read(object, name, node, false)
}
