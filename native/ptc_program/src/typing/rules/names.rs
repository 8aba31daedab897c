//! Names: of the data, of the memory, and those that operations bind.

use crate::analysis::names::NameId;
use crate::typing::finding::{Detail, FindingCode};
use crate::typing::rule::Rule;
use crate::typing::ty::TyId;
use crate::typing::walk::Facts;

/// The type of `var`.
pub fn var(rule: &mut Rule) -> TyId {
    let Some(text) = rule.text("name") else {
        return TyId::UNKNOWN;
    };
    if text == b"__input" {
        let current = rule.current;
        rule.facts = Some(Facts {
            yes: current,
            no: current,
        });
        return match current {
            TyId::NO_INPUT => TyId::NULL,
            _ => current,
        };
    }
    let name = rule.types().names.id(text);
    if let Some(ty) = rule
        .walk
        .stack
        .bound
        .get(name.0 as usize)
        .copied()
        .flatten()
    {
        return ty;
    }
    let Some(memory) = &rule.walk.known.memory else {
        unbound(rule, name);
        return TyId::UNKNOWN;
    };
    if let Some(ty) = memory.used.get(&name) {
        return *ty;
    }
    let names = memory.all.clone();
    unknown(rule, name, names, false)
}

/// Notes a name that is null unless the memory has it.
#[cold]
fn unbound(rule: &mut Rule, name: NameId) {
    if rule.walk.absences > 0 || rule.types().names.is_long(name) {
        return;
    }
    let (node, names) = (rule.place("name"), rule.walk.bound_names());
    let details = rule.named(name, names);
    rule.warn(FindingCode::UnboundName, node, details);
}

/// The type of `load`.
pub fn load(rule: &mut Rule) -> TyId {
    let Some(name) = rule.name("name") else {
        return TyId::UNKNOWN;
    };
    if rule.types().names.is_long(name) {
        return TyId::UNKNOWN;
    }
    let Some(context) = &rule.walk.known.context else {
        rule.walk.loaded.push(name);
        return TyId::UNKNOWN;
    };
    if let Some(ty) = context.used.get(&name).copied() {
        rule.walk.loaded.push(name);
        return ty;
    }
    let names = context.all.clone();
    unknown(rule, name, names, true)
}

fn unknown(rule: &mut Rule, name: NameId, names: Vec<NameId>, context: bool) -> TyId {
    let node = rule.place("name");
    let mut details = rule.named(name, names);
    details.insert(1, Detail::Context(context));
    match rule.walk.absences {
        0 => rule.error(FindingCode::UnknownName, node, details),
        _ => rule.warn(FindingCode::UnknownName, node, details),
    }
    TyId::UNKNOWN
}
