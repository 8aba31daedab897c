//! The rule of `fold`.

use super::input::item;
use crate::typing::finding::Severity;
use crate::typing::rule::Rule;
use crate::typing::ty::{Ty, TyId};
use crate::typing::walk::TypePart;

/// The body of `fold`. What is accumulated is taken to keep its kind; if it does not, what was found inside counts as a
/// warning.
pub fn before_body(rule: &mut Rule, part: &mut TypePart) {
    let item = item(rule);
    let init = rule.part("init");
    let acc = widest(rule, init);
    rule.own().all = acc;
    rule.own().count = rule.walk.findings.len() as u32;
    let text = rule.text("as").unwrap_or(b"acc");
    let name = rule.types().names.id(text);
    rule.of_item(part, item);
    part.bind = Some((name, acc));
}

/// The type of `fold`.
pub fn fold(rule: &mut Rule) -> TyId {
    item(rule);
    if rule.field("init").is_none() || rule.field("expr").is_none() {
        return TyId::UNKNOWN;
    }
    let (init, last, acc) = (rule.part("init"), rule.part("expr"), rule.own().all);
    let kinds = (rule.types().kinds(last), rule.types().kinds(acc));
    if !kinds.0.within(kinds.1) {
        let first = rule.own().count as usize;
        for finding in rule.walk.findings.iter_mut().skip(first) {
            finding.severity = Severity::Warning;
        }
        return TyId::UNKNOWN;
    }
    rule.types().union(init, last)
}

/// Returns the type of all values of the same kinds.
fn widest(rule: &mut Rule, ty: TyId) -> TyId {
    let mut all = TyId::NEVER;
    for member in rule.types().members(&ty).to_vec() {
        let wide = match rule.types().get(member) {
            Ty::Int | Ty::IntOf(_) => TyId::NUMBER,
            Ty::Null => TyId::UNKNOWN,
            _ => rule.types().wide(member),
        };
        all = rule.types().union(all, wide);
    }
    all
}
