//! Rules of operations on numbers, texts and dates.

use super::input::given;
use super::lists::{hides_decimal, integer, whole};
use crate::shape::{Comparison, DateOf, NumberOf, TextOf};
use crate::typing::finding::{Detail, FindingCode, Subject};
use crate::typing::rule::Rule;
use crate::typing::ty::{Kinds, Ty, TyId};
use crate::typing::walk::TypePart;

/// The type of `add`, `sub`, `mul`, `div`, `pct` and `mod`.
pub fn arithmetic(rule: &mut Rule, of: NumberOf) -> TyId {
    let names = rule.operands();
    let types = names.map(|name| rule.part(name));
    if of == NumberOf::Modulo {
        for (name, ty) in names.into_iter().zip(types) {
            let node = rule.place(name);
            integer(rule, ty, Subject::Operand(name), node);
        }
        return TyId::INT;
    }
    let mut both = TyId::NEVER;
    for (at, name) in names.into_iter().enumerate() {
        let node = rule.place(name);
        // Beside a decimal, a text is read as a number.
        let beside = types[1 - at];
        let kinds = match hides_decimal(rule, beside) {
            true => Kinds::NUMBER.or(Kinds::TEXT).or(Kinds::OTHER),
            false => Kinds::NUMBER,
        };
        let ty = rule.need(types[at], kinds, Subject::Operand(name), node);
        both = rule.types().union(both, ty);
    }
    match of {
        // Beside a float, everything else than a number is an error, and a decimal is too.
        _ if types.iter().any(|ty| rule.types().is_only_float(*ty)) => TyId::FLOAT,
        _ if types.iter().any(|ty| rule.may_be_decimal(*ty)) => TyId::UNKNOWN,
        NumberOf::Quotient => float(rule, both),
        _ => whole(rule, both),
    }
}

/// Returns the type of a number that is a float, unless one that it is made of may be a decimal.
fn float(rule: &mut Rule, of: TyId) -> TyId {
    match hides_decimal(rule, of) {
        true => TyId::NUMBER,
        false => TyId::FLOAT,
    }
}

/// The type of `round`, `abs`, `floor` and `ceil`.
pub fn rounding(rule: &mut Rule, of: NumberOf) -> TyId {
    let given = given(rule, "value");
    let node = place(rule);
    let kinds = match of {
        NumberOf::Rounded => Kinds::NUMBER,
        _ => Kinds::NUMBER.or(Kinds::NULL),
    };
    let ty = rule.need(given.ty, kinds, given.subject, node);
    let numbers = rule.types().only(ty, Kinds::NUMBER);
    let number = match of {
        NumberOf::Rounded if rule.may_be_decimal(given.ty) => TyId::UNKNOWN,
        NumberOf::Rounded => float(rule, numbers),
        NumberOf::Absolute if rule.types().is_only_float(numbers) => TyId::FLOAT,
        NumberOf::Absolute => whole(rule, numbers),
        _ => TyId::INT,
    };
    or_null_like(rule, number, given.ty, of != NumberOf::Rounded)
}

/// Returns the type, or null where the operation passes null on.
fn or_null_like(rule: &mut Rule, ty: TyId, of: TyId, passes: bool) -> TyId {
    let nullable = of != TyId::UNKNOWN && rule.types().kinds(of).meets(Kinds::NULL);
    match passes && nullable {
        true => rule.types().or_null(ty),
        false if passes && of == TyId::UNKNOWN => TyId::UNKNOWN,
        false => ty,
    }
}

fn place(rule: &mut Rule) -> u32 {
    match rule.field("value") {
        Some(node) => node,
        None => rule.place("field"),
    }
}

const TEXT: Kinds = Kinds::TEXT.or(Kinds::NULL).or(Kinds::OTHER);

/// The type of operations on one text: `upper`, `lower`, `trim`, `length`, `extract`, `to_text`, `to_number`, `split`,
/// `replace`. Null stays null.
pub fn text(rule: &mut Rule, of: TextOf) -> TyId {
    let given = given(rule, "value");
    let node = place(rule);
    let kinds = match of {
        TextOf::Length => TEXT.or(Kinds::LIST).or(Kinds::OBJECT),
        TextOf::Any if rule.field("decimals").is_some() => {
            Kinds::NUMBER.or(Kinds::NULL).or(Kinds::OTHER)
        }
        TextOf::Any | TextOf::Number => Kinds::ALL,
        _ => TEXT,
    };
    rule.need(given.ty, kinds, given.subject, node);
    for name in needles(of) {
        let (ty, node) = (rule.part(name), rule.place(name));
        let kinds = Kinds::TEXT.or(Kinds::OTHER);
        rule.need(ty, kinds, Subject::Operand(name), node);
    }
    let ty = match of {
        TextOf::Length => TyId::INT,
        TextOf::Any => {
            rule.read_all(given.ty);
            TyId::TEXT
        }
        TextOf::Number => return number_of(rule, given.ty),
        TextOf::Extract => extracted(rule),
        TextOf::Split => TyId::TEXTS,
        TextOf::Form | TextOf::Replaced | TextOf::Several => TyId::TEXT,
    };
    or_null_like(rule, ty, given.ty, true)
}

/// Returns the fields that hold texts beside the operand.
fn needles(of: TextOf) -> &'static [&'static str] {
    match of {
        TextOf::Split => &["by"],
        TextOf::Replaced => &["find", "with"],
        _ => &[],
    }
}

fn number_of(rule: &mut Rule, of: TyId) -> TyId {
    // The number of a decimal is the decimal.
    if rule.may_be_decimal(of) {
        return TyId::UNKNOWN;
    }
    let kinds = rule.types().kinds(of);
    let numbers = rule.types().only(of, Kinds::NUMBER);
    match kinds.within(Kinds::NUMBER) {
        true => numbers,
        false => {
            let number = match hides_decimal(rule, of) {
                true => TyId::NUMBER,
                false => TyId::PLAIN,
            };
            rule.types().or_null(number)
        }
    }
}

/// Returns what a match gives: the text, or its groups.
fn extracted(rule: &mut Rule) -> TyId {
    let has_groups = rule
        .text("pattern")
        .is_none_or(|pattern| pattern.contains(&b'('));
    let all = rule.field("all").is_some();
    let one = match has_groups {
        true => TyId::UNKNOWN,
        false => TyId::TEXT,
    };
    match all {
        true => match rule.boolean("all") {
            Some(true) => rule.types().list(one),
            _ => rule.types().or_null(one),
        },
        false => rule.types().or_null(one),
    }
}

/// A part of `text`.
pub fn after_part(rule: &mut Rule, part: &TypePart, ty: TyId) -> bool {
    if rule.field("parts") == Some(part.node) {
        rule.need(ty, Kinds::LIST, Subject::Operand("parts"), part.node);
    }
    rule.read_all(ty);
    false
}

/// The type of `matches`: it holds for texts only.
pub fn matches(rule: &mut Rule) -> TyId {
    let given = given(rule, "left");
    let kinds = rule.types().kinds(given.ty);
    if !kinds.is_empty() && !kinds.meets(Kinds::TEXT.or(Kinds::OTHER)) {
        let node = rule.node;
        let details = vec![
            Detail::Bool(false),
            Detail::Subject(given.subject),
            Detail::Kinds(kinds),
            Detail::Kinds(Kinds::TEXT),
        ];
        rule.warn(FindingCode::Always, node, details);
    }
    let of_text = Kinds::TEXT.or(Kinds::OTHER).or(Kinds::OBJECT);
    super::compare::note(
        rule,
        Comparison::Pattern,
        given,
        TyId::TEXT,
        (of_text, Kinds::ALL),
    );
    TyId::BOOL
}

/// The type of `typeof`.
pub fn kind(rule: &mut Rule) -> TyId {
    let input = rule.input();
    rule.walk.tests += 1;
    let kinds = rule.types().kinds(input);
    let words: [(Kinds, &[u8]); 6] = [
        (Kinds::NULL, b"null"),
        (Kinds::BOOL, b"boolean"),
        (Kinds::NUMBER, b"number"),
        (Kinds::TEXT, b"string"),
        (Kinds::LIST, b"list"),
        (Kinds::OBJECT, b"object"),
    ];
    if kinds.meets(Kinds::OTHER) {
        return TyId::TEXT;
    }
    let mut all = TyId::NEVER;
    for (kind, word) in words {
        if kinds.meets(kind) {
            let word = rule.types().text(word);
            all = rule.types().union(all, word);
        }
    }
    all
}

/// What can be a date.
const DATE: Kinds = TEXT.or(Kinds::OBJECT);

/// The amount of `date_add`. For null it is not evaluated.
pub fn before_amount(rule: &mut Rule, part: &mut TypePart) {
    let given = given(rule, "value");
    part.held.dead = rule.types().kinds(given.ty).within(Kinds::NULL);
}

/// The type of `date_add` and `date_part`.
pub fn date(rule: &mut Rule, of: DateOf) -> TyId {
    let given = given(rule, "value");
    let node = place(rule);
    is_date(rule, given.ty, given.subject, node);
    let ty = match (of, rule.text("part")) {
        (DateOf::Sum, _) if rule.types().kinds(given.ty).within(Kinds::NULL) => return TyId::NULL,
        (DateOf::Sum, _) => {
            let (amount, node) = (rule.part("amount"), rule.place("amount"));
            integer(rule, amount, Subject::Operand("amount"), node);
            TyId::TEXT
        }
        (_, Some(b"date" | b"month_start" | b"week_start" | b"year_month")) => TyId::TEXT,
        _ => TyId::INT,
    };
    or_null_like(rule, ty, given.ty, true)
}

/// The type of `date_diff`.
pub fn date_diff(rule: &mut Rule) -> TyId {
    let mut both = TyId::NEVER;
    for name in ["from", "to"] {
        let (ty, node) = (rule.part(name), rule.place(name));
        is_date(rule, ty, Subject::Operand(name), node);
        both = rule.types().union(both, ty);
    }
    or_null_like(rule, TyId::INT, both, true)
}

fn is_date(rule: &mut Rule, ty: TyId, subject: Subject, node: u32) {
    let plain = matches!(rule.types().get(ty), Ty::Object(_, false));
    match plain {
        true => {
            let kinds = rule.types().kinds(ty);
            let details = vec![
                Detail::Subject(subject),
                Detail::Kinds(Kinds::TEXT),
                Detail::Kinds(kinds),
            ];
            rule.warn(FindingCode::WrongKind, node, details);
        }
        false => {
            rule.need(ty, DATE, subject, node);
        }
    }
}
