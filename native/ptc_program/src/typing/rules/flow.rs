//! Conditions and branches.

use crate::typing::finding::{Detail, FindingCode};
use crate::typing::rule::Rule;
use crate::typing::ty::{Kinds, TyId};
use crate::typing::walk::{Facts, How, Next, Visit};
use ptc_json::Node;

const FALSE: Kinds = Kinds::NULL.or(Kinds::BOOL);

/// Returns whether values of a type are always true or always false as conditions.
pub fn truth(rule: &mut Rule, ty: TyId) -> Option<bool> {
    let kinds = rule.types().kinds(ty);
    match ty {
        TyId::TRUE => Some(true),
        TyId::FALSE | TyId::NULL => Some(false),
        _ if kinds.is_empty() => None,
        _ if !kinds.meets(FALSE) => Some(true),
        _ => None,
    }
}

/// Returns what the condition that was visited last says about the current value, and whether it may say more.
pub fn facts(rule: &mut Rule) -> (Facts, bool) {
    let tests = *rule.kept(2);
    let doubt = rule.walk.facts.is_none() && rule.walk.tests > tests.0;
    let input = rule.current;
    let mut facts = rule.walk.facts.unwrap_or(Facts {
        yes: input,
        no: input,
    });
    match truth(rule, rule.last()) {
        Some(true) => facts.no = TyId::NEVER,
        Some(false) => facts.yes = TyId::NEVER,
        None => {}
    }
    (facts, doubt)
}

/// Notes that a condition is visited next.
pub fn begin_condition(rule: &mut Rule) {
    let tests = rule.walk.tests;
    *rule.kept(2) = TyId(tests);
}

/// Notes a part that is never evaluated.
pub fn never(rule: &mut Rule, node: Node, name: &'static str) {
    rule.warn(FindingCode::NeverRuns, node, vec![Detail::Word(name)]);
}

/// The rule of `if`.
pub fn choose(rule: &mut Rule) -> Next {
    match rule.stage {
        0 => {
            begin_condition(rule);
            rule.visit("condition", How::Expr)
        }
        1 => {
            let condition = rule.last();
            let truth = truth(rule, condition);
            let (facts, doubt) = facts(rule);
            *rule.kept(0) = facts.no;
            let dead = truth == Some(false);
            *rule.number() =
                u32::from(doubt) | u32::from(truth == Some(true)) << 1 | u32::from(dead) << 2;
            branch(rule, "then", facts.yes, dead, doubt)
        }
        2 => {
            let (no, number) = (*rule.kept(0), *rule.number());
            let then = rule.last();
            *rule.kept(1) = match rule.field("then") {
                Some(_) if number & 4 != 0 => TyId::NEVER,
                Some(_) => then,
                None => TyId::UNKNOWN,
            };
            branch(rule, "else", no, number & 2 != 0, number & 1 != 0)
        }
        _ => {
            let (then, last) = (*rule.kept(1), rule.last());
            Next::Is(match *rule.number() & 2 != 0 {
                true => then,
                false => rule.types().union(then, last),
            })
        }
    }
}

fn branch(rule: &mut Rule, name: &'static str, input: TyId, dead: bool, doubt: bool) -> Next {
    if let (true, Some(node)) = (dead, rule.field(name)) {
        if !rule.is_null(node) {
            never(rule, node, name);
        }
    }
    match rule.visit_of(name, How::Template) {
        Some(visit) => Next::Visit(Visit {
            input,
            dead,
            doubt,
            ..visit
        }),
        None => rule.absent(),
    }
}

/// The rule of `and` and `or`: each condition sees what those before it say.
pub fn connect(rule: &mut Rule, decisive: bool) -> Next {
    let list = rule.field("conditions");
    let before = match rule.stage {
        0 => {
            *rule.kept(1) = TyId::NEVER;
            *rule.kept(0) = rule.current;
            rule.current
        }
        _ => {
            let outer = rule.current;
            let before = *rule.kept(0);
            // The facts are about what the condition saw.
            rule.current = before;
            let (facts, doubt) = facts(rule);
            let last = rule.last();
            let decided = truth(rule, last) == Some(decisive);
            rule.current = outer;
            *rule.number() |= u32::from(doubt) | u32::from(decided) << 1;
            let (goes_on, ends) = match decisive {
                true => (facts.no, facts.yes),
                false => (facts.yes, facts.no),
            };
            let all = *rule.kept(1);
            *rule.kept(1) = rule.types().union(all, ends);
            *rule.kept(0) = goes_on;
            goes_on
        }
    };
    begin_condition(rule);
    let (doubt, dead) = (*rule.number() & 1 != 0, *rule.number() & 2 != 0);
    match rule.next_element(list) {
        Some(condition) => Next::Visit(Visit {
            doubt,
            dead,
            ..Visit::new(condition, How::Expr, before)
        }),
        None => {
            let (goes_on, ends) = (*rule.kept(0), *rule.kept(1));
            if rule.stage > 0 {
                rule.facts = Some(match decisive {
                    true => Facts {
                        yes: ends,
                        no: goes_on,
                    },
                    false => Facts {
                        yes: goes_on,
                        no: ends,
                    },
                });
            }
            Next::Is(match (dead, decisive) {
                (false, _) => TyId::BOOL,
                (true, true) => TyId::TRUE,
                (true, false) => TyId::FALSE,
            })
        }
    }
}

/// The rule of `not`.
pub fn not(rule: &mut Rule) -> Next {
    if rule.stage == 0 {
        return rule.visit("condition", How::Expr);
    }
    rule.facts = rule.walk.facts.map(|facts| Facts {
        yes: facts.no,
        no: facts.yes,
    });
    let last = rule.last();
    Next::Is(match truth(rule, last) {
        Some(true) => TyId::FALSE,
        Some(false) => TyId::TRUE,
        None => TyId::BOOL,
    })
}

/// The rule of `switch`: conditions and values of the cases in turn, then `else`.
pub fn switch(rule: &mut Rule) -> Next {
    if rule.stage == 0 {
        *rule.kept(0) = rule.current;
        return case(rule);
    }
    // Whether a condition was visited last is in `number`, the place of its value behind it.
    let waits = std::mem::replace(rule.number(), 0);
    if waits == u32::MAX {
        let last = rule.last();
        return Next::Is(with_value(rule, last));
    }
    if waits != 0 {
        let outer = rule.current;
        rule.current = *rule.kept(0);
        let (facts, doubt) = facts(rule);
        rule.current = outer;
        *rule.kept(0) = facts.no;
        let condition = rule.last();
        let dead = truth(rule, condition) == Some(false);
        if dead {
            never(rule, waits - 1, "then");
        }
        return Next::Visit(Visit {
            dead,
            doubt,
            ..Visit::new(waits - 1, How::Template, facts.yes)
        });
    }
    let last = rule.last();
    with_value(rule, last);
    case(rule)
}

fn with_value(rule: &mut Rule, ty: TyId) -> TyId {
    let all = *rule.kept(1);
    let all = rule.types().union(all, ty);
    *rule.kept(1) = all;
    all
}

fn case(rule: &mut Rule) -> Next {
    let list = rule.field("cases");
    let input = *rule.kept(0);
    let source = rule.source;
    while let Some(case) = rule.next_element(list) {
        let parts = (source.field(case, "when"), source.field(case, "then"));
        if let (Some(when), Some(then)) = parts {
            begin_condition(rule);
            *rule.number() = then + 1;
            return Next::Visit(Visit::new(when, How::Expr, input));
        }
    }
    match rule.visit_of("else", How::Template) {
        Some(visit) => {
            *rule.number() = u32::MAX;
            Next::Visit(Visit { input, ..visit })
        }
        None => Next::Is(with_value(rule, TyId::NULL)),
    }
}

/// The rule of `coalesce`: the values after one that is never null are not evaluated.
pub fn coalesce(rule: &mut Rule) -> Next {
    let list = rule.field("values");
    if rule.stage > 0 {
        let last = rule.last();
        let some = match last {
            TyId::UNKNOWN => last,
            _ => rule.types().not_null(last),
        };
        with_value(rule, some);
        let kinds = rule.types().kinds(last);
        if !kinds.is_empty() && !kinds.meets(Kinds::NULL) {
            if let Some(next) = rule.next_element(list) {
                never(rule, next, "values");
            }
            return Next::Is(*rule.kept(1));
        }
    }
    let input = rule.current;
    match rule.next_element(list) {
        Some(value) => Next::Visit(Visit {
            absence: true,
            ..Visit::new(value, How::Template, input)
        }),
        None => Next::Is(with_value(rule, TyId::NULL)),
    }
}

/// The rule of `pipe`. In edition 1 the first step gets null, unless it names the current value.
pub fn pipe(rule: &mut Rule) -> Next {
    let list = rule.field("steps");
    let input = match rule.stage {
        0 => first_input(rule),
        _ => rule.last(),
    };
    let facts = rule.walk.facts;
    match rule.next_element(list) {
        // A step that names the current value of the pipe around it.
        Some(step) if rule.stage == 0 && names_input(rule, step) => {
            Next::Visit(Visit::new(step, How::Expr, rule.current))
        }
        Some(step) => Next::Visit(Visit {
            given: true,
            ..Visit::new(step, How::Expr, input)
        }),
        None => {
            // The facts of an only step are about the current value of the pipe.
            let two = rule.edition() == crate::edition::Edition::Two;
            rule.facts = facts.filter(|_| rule.stage == 1 && two);
            Next::Is(match rule.stage {
                0 => TyId::NULL,
                _ => rule.last(),
            })
        }
    }
}

fn first_input(rule: &Rule) -> TyId {
    let one = rule.edition() == crate::edition::Edition::One;
    match (one, rule.current) {
        (true, _) | (false, TyId::NO_INPUT) => TyId::NULL,
        (false, current) => current,
    }
}

/// Returns whether a part is `{"op": "var", "name": "__input"}`.
fn names_input(rule: &Rule, node: Node) -> bool {
    let source = rule.source;
    let text = |name| source.field(node, name).and_then(|part| source.text(part));
    text("op") == Some(b"var") && text("name") == Some(b"__input")
}

/// The rule of `let`.
pub fn bind(rule: &mut Rule) -> Next {
    match rule.stage {
        0 => rule.visit("value", How::Template),
        1 => {
            let (ty, text) = (rule.last(), rule.text("name"));
            let (Some(text), Some(visit)) = (text, rule.visit_of("in", How::Template)) else {
                return Next::Is(TyId::UNKNOWN);
            };
            if text == b"__input" {
                return Next::Visit(Visit { input: ty, ..visit });
            }
            let name = rule.types().names.id(text);
            let mut visit = visit;
            visit.binds[0] = Some((name, ty));
            Next::Visit(visit)
        }
        _ => {
            // Unless it binds the current value, what is evaluated in it is a condition about that.
            if rule.text("name") != Some(b"__input") {
                rule.facts = rule.walk.facts;
            }
            Next::Is(rule.last())
        }
    }
}

/// The rule of `literal`.
pub fn literal(rule: &mut Rule) -> Next {
    match rule.stage {
        0 => rule.visit("value", How::Constant),
        _ => Next::Is(rule.last()),
    }
}

/// The rule of `it`.
pub fn it(rule: &mut Rule) -> Next {
    let current = rule.input();
    rule.facts = Some(Facts {
        yes: rule.types().not_null(current),
        no: current,
    });
    Next::Is(current)
}

/// The rule of `list`.
pub fn list(rule: &mut Rule) -> Next {
    let items = rule.field("items");
    rule.list(items, How::Template)
}
