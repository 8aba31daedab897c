//! Conditions, branches, pipes and bound names.

use crate::analysis::Visiting;
use crate::edition::Edition;
use crate::shape::Branching;
use crate::typing::finding::{Detail, FindingCode};
use crate::typing::rule::Rule;
use crate::typing::ty::{Kinds, TyId};
use crate::typing::walk::{Facts, TypePart};
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

/// Returns what the condition that was visited last says about its current value, and whether it may say more.
pub fn facts(rule: &mut Rule, input: TyId) -> (Facts, bool) {
    let tests = rule.own().tests;
    let doubt = rule.walk.facts.is_none() && rule.walk.tests > tests;
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
    rule.own().tests = rule.walk.tests;
}

/// Notes a part that is never evaluated.
pub fn never(rule: &mut Rule, node: Node, name: &'static str) {
    rule.warn(FindingCode::NeverRuns, node, vec![Detail::Word(name)]);
}

/// A part of `if` or `switch`. A case sees what the conditions before it say.
pub fn before_branch(rule: &mut Rule, of: Branching, part: &mut TypePart) -> Visiting {
    if !rule.own().begun {
        let current = rule.current;
        let own = rule.own();
        (own.begun, own.facts.no) = (true, current);
    }
    let own = rule.own();
    let (facts, doubt, truth) = (own.facts, own.doubt, own.truth);
    let decided = match part.field {
        "condition" | "cases" => {
            begin_condition(rule);
            part.input = facts.no;
            return Visiting::Visit;
        }
        "then" => {
            part.input = facts.yes;
            truth == Some(false)
        }
        _ => {
            part.input = facts.no;
            truth == Some(true) && of == Branching::Two
        }
    };
    let warns = match of {
        Branching::Two => !rule.is_null(part.node),
        Branching::Cases => part.field == "then",
    };
    if decided && warns {
        never(rule, part.node, part.field);
    }
    part.held.dead = decided;
    part.held.doubt = doubt && (part.field == "then" || of == Branching::Two);
    Visiting::Visit
}

/// After a part of `if` or `switch`.
pub fn after_branch(rule: &mut Rule, of: Branching, part: &TypePart, ty: TyId) -> bool {
    match (part.field, of) {
        ("condition" | "cases", _) => {
            let input = rule.own().facts.no;
            let (facts, doubt) = facts(rule, input);
            let truth = truth(rule, ty);
            let own = rule.own();
            (own.facts, own.doubt, own.truth) = (facts, doubt, truth);
            false
        }
        ("then", Branching::Cases) => rule.join_all(ty),
        _ => true,
    }
}

/// The type of `if`.
pub fn choose(rule: &mut Rule) -> TyId {
    let truth = rule.own().truth;
    let walk = &rule.walk.stack;
    match (walk.part_in("then"), walk.part_in("else")) {
        (Some(_), Some(other)) if truth == Some(false) => rule.types().union(TyId::NEVER, other),
        (Some(then), Some(_)) if truth == Some(true) => then,
        (Some(then), Some(other)) => rule.types().union(then, other),
        _ => TyId::UNKNOWN,
    }
}

/// The type of `switch`.
pub fn switch(rule: &mut Rule) -> TyId {
    let all = rule.own().all;
    let other = rule.walk.stack.part_in("else").unwrap_or(TyId::NULL);
    rule.types().union(all, other)
}

/// A condition of `and` or `or`: each one sees what those before it say.
pub fn before_connected(rule: &mut Rule, decisive: bool, part: &mut TypePart) -> Visiting {
    begin_condition(rule);
    if !rule.own().begun {
        let going = connected(decisive, rule.current, TyId::NEVER);
        let own = rule.own();
        (own.begun, own.facts) = (true, going);
    }
    let own = rule.own();
    part.input = goes_on(decisive, own.facts).0;
    (part.held.doubt, part.held.dead) = (own.doubt, own.truth.is_some());
    Visiting::Visit
}

/// What the conditions say where they go on, and where one has decided.
fn connected(decisive: bool, goes_on: TyId, ends: TyId) -> Facts {
    match decisive {
        true => Facts {
            yes: ends,
            no: goes_on,
        },
        false => Facts {
            yes: goes_on,
            no: ends,
        },
    }
}

fn goes_on(decisive: bool, facts: Facts) -> (TyId, TyId) {
    match decisive {
        true => (facts.no, facts.yes),
        false => (facts.yes, facts.no),
    }
}

/// After a condition of `and` or `or`.
pub fn after_connected(rule: &mut Rule, decisive: bool, ty: TyId) -> bool {
    let so_far = rule.own().facts;
    let (before, all) = goes_on(decisive, so_far);
    let (facts, doubt) = facts(rule, before);
    let decided = truth(rule, ty) == Some(decisive);
    let (next, ends) = goes_on(decisive, facts);
    let all = rule.types().union(all, ends);
    let own = rule.own();
    own.doubt |= doubt;
    own.truth = own.truth.or(decided.then_some(decisive));
    own.facts = connected(decisive, next, all);
    false
}

/// The type of `and` and `or`.
pub fn connect(rule: &mut Rule) -> TyId {
    let (begun, facts, truth) = (rule.own().begun, rule.own().facts, rule.own().truth);
    rule.facts = begun.then_some(facts);
    match truth {
        None => TyId::BOOL,
        Some(true) => TyId::TRUE,
        Some(false) => TyId::FALSE,
    }
}

/// The type of `not`.
pub fn not(rule: &mut Rule) -> TyId {
    rule.facts = rule.walk.facts.map(|facts| Facts {
        yes: facts.no,
        no: facts.yes,
    });
    let condition = rule.part("condition");
    match truth(rule, condition) {
        Some(true) => TyId::FALSE,
        Some(false) => TyId::TRUE,
        None => TyId::BOOL,
    }
}

/// A value of `coalesce`: those after one that is never null are not evaluated.
pub fn before_first(rule: &mut Rule, part: &mut TypePart) -> Visiting {
    if rule.own().truth.is_some() {
        never(rule, part.node, "values");
        return Visiting::Stop;
    }
    part.held.absence = true;
    Visiting::Visit
}

/// After a value of `coalesce`.
pub fn after_first(rule: &mut Rule, ty: TyId) -> bool {
    let some = match ty {
        TyId::UNKNOWN => ty,
        _ => rule.types().not_null(ty),
    };
    rule.join_all(some);
    let kinds = rule.types().kinds(ty);
    if !kinds.is_empty() && !kinds.meets(Kinds::NULL) {
        rule.own().truth = Some(true);
    }
    false
}

/// The type of `coalesce`.
pub fn coalesce(rule: &mut Rule) -> TyId {
    let (all, truth) = (rule.own().all, rule.own().truth);
    match truth {
        Some(_) => all,
        None => rule.types().union(all, TyId::NULL),
    }
}

/// The type of `pipe`.
pub fn pipe(rule: &mut Rule) -> TyId {
    let count = rule.walk.stack.parts().len();
    // The facts of an only step are about the current value of the pipe.
    let is_own = count == 1 && rule.edition() == Edition::Two;
    rule.facts = rule.walk.facts.filter(|_| is_own);
    rule.walk.stack.last_part().unwrap_or(TyId::NULL)
}

/// The type of `let`.
pub fn bind(rule: &mut Rule) -> TyId {
    let name = rule.text("name");
    if rule.field("value").is_none() || name.is_none() {
        return TyId::UNKNOWN;
    }
    // Unless it binds the current value, what is evaluated in it is a condition about that.
    if name != Some(b"__input") {
        rule.facts = rule.walk.facts;
    }
    rule.part("in")
}

/// The type of `it`.
pub fn it(rule: &mut Rule) -> TyId {
    let current = rule.input();
    rule.facts = Some(Facts {
        yes: rule.types().not_null(current),
        no: current,
    });
    current
}
