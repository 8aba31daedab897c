//! The rule of `fold`.

use crate::typing::finding::Severity;
use crate::typing::rule::Rule;
use crate::typing::ty::{Ty, TyId};
use crate::typing::walk::{How, Next};

/// The rule of `fold`. What is accumulated is taken to keep its kind; if it does not, what was found inside counts as a
/// warning.
pub fn fold(rule: &mut Rule) -> Next {
    match rule.stage {
        0 => {
            let item = rule.items();
            *rule.kept(0) = item;
            rule.visit("init", How::Template)
        }
        1 => {
            let (item, init) = (*rule.kept(0), rule.last());
            let acc = widest(rule, init);
            (*rule.kept(0), *rule.kept(1)) = (init, acc);
            *rule.number() = rule.walk.findings.len() as u32;
            let text = rule.text("as").unwrap_or(b"acc");
            let name = rule.types().names.id(text);
            match rule.visit_of("expr", How::Expr) {
                Some(visit) => {
                    let mut visit = rule.of_item(visit, item);
                    visit.binds[0] = Some((name, acc));
                    Next::Visit(visit)
                }
                None => rule.absent(),
            }
        }
        _ => {
            let (init, acc, last) = (*rule.kept(0), *rule.kept(1), rule.last());
            let kinds = (rule.types().kinds(last), rule.types().kinds(acc));
            if !kinds.0.within(kinds.1) {
                let first = *rule.number() as usize;
                for finding in rule.walk.findings.iter_mut().skip(first) {
                    finding.severity = Severity::Warning;
                }
                return Next::Is(TyId::UNKNOWN);
            }
            Next::Is(rule.types().union(init, last))
        }
    }
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
