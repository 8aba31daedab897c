//! Rules of operations on numbers, texts and dates.

use super::input::{one, own, visited};
use super::lists::{hides_decimal, integer, whole};
use crate::shape::{Comparison, DateOf, NumberOf, TextOf};
use crate::typing::finding::{Detail, FindingCode, Subject};
use crate::typing::rule::Rule;
use crate::typing::ty::{Kinds, Ty, TyId};
use crate::typing::walk::{How, Next, Visit};

/// The rule of `add`, `sub`, `mul`, `div`, `pct` and `mod`.
pub fn arithmetic(rule: &mut Rule, of: NumberOf) -> Next {
    let names = rule.operands();
    if rule.stage == 0 {
        return rule.visit(names[0], How::Operand);
    }
    let name = names[rule.stage as usize - 1];
    let last = rule.last();
    if of == NumberOf::Modulo {
        let node = rule.place(name);
        integer(rule, last, Subject::Operand(name), node);
    }
    if rule.stage == 1 {
        *rule.kept(0) = last;
        return rule.visit(names[1], How::Operand);
    }
    if of == NumberOf::Modulo {
        return Next::Is(TyId::INT);
    }
    let types = [*rule.kept(0), last];
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
    Next::Is(match of {
        // Beside a float, everything else than a number is an error, and a decimal is too.
        _ if types.iter().any(|ty| rule.types().is_only_float(*ty)) => TyId::FLOAT,
        _ if types.iter().any(|ty| rule.may_be_decimal(*ty)) => TyId::UNKNOWN,
        NumberOf::Quotient => float(rule, both),
        _ => whole(rule, both),
    })
}

/// Returns the type of a number that is a float, unless one that it is made of may be a decimal.
fn float(rule: &mut Rule, of: TyId) -> TyId {
    match hides_decimal(rule, of) {
        true => TyId::NUMBER,
        false => TyId::FLOAT,
    }
}

/// The rule of `round`, `abs`, `floor` and `ceil`.
pub fn rounding(rule: &mut Rule, of: NumberOf) -> Next {
    let given = match one(rule, How::Operand) {
        Ok(given) => given,
        Err(next) => return next,
    };
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
    Next::Is(or_null_like(
        rule,
        number,
        given.ty,
        of != NumberOf::Rounded,
    ))
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

/// The rule of operations on one text: `upper`, `lower`, `trim`, `length`, `extract`, `to_text`, `to_number`, `split`,
/// `replace`. Null stays null.
pub fn text(rule: &mut Rule, of: TextOf) -> Next {
    let first = visited(rule);
    let given = match one(rule, How::Template) {
        Ok(given) if rule.stage <= first => given,
        Ok(given) => return needles(rule, of, given.ty, first),
        Err(next) => return next,
    };
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
    if matches!(of, TextOf::Split | TextOf::Replaced) {
        *rule.kept(0) = given.ty;
        return needle(rule, of, 0);
    }
    let ty = match of {
        TextOf::Length => TyId::INT,
        TextOf::Any => {
            rule.read_all(given.ty);
            TyId::TEXT
        }
        TextOf::Number => return Next::Is(number_of(rule, given.ty)),
        TextOf::Extract => extracted(rule),
        _ => TyId::TEXT,
    };
    Next::Is(or_null_like(rule, ty, given.ty, true))
}

fn names_of(of: TextOf) -> &'static [&'static str] {
    match of {
        TextOf::Split => &["by"],
        TextOf::Replaced => &["find", "with"],
        _ => &[],
    }
}

/// Visits the next text that is given or computed.
fn needle(rule: &mut Rule, of: TextOf, place: usize) -> Next {
    match names_of(of).get(place) {
        Some(name) => match rule.field(name) {
            Some(node) => {
                let input = rule.current;
                Next::Visit(Visit::new(node, How::Template, input))
            }
            None => Next::Is(TyId::UNKNOWN),
        },
        None => Next::Is(TyId::UNKNOWN),
    }
}

fn needles(rule: &mut Rule, of: TextOf, ty: TyId, first: u32) -> Next {
    let given = match rule.field("value") {
        Some(_) => ty,
        None => *rule.kept(0),
    };
    let place = (rule.stage - first) as usize;
    let (last, names) = (rule.last(), names_of(of));
    if let Some(name) = names.get(place - 1) {
        let node = rule.place(name);
        rule.need(
            last,
            Kinds::TEXT.or(Kinds::OTHER),
            Subject::Operand(name),
            node,
        );
    }
    if place < names.len() {
        return needle(rule, of, place);
    }
    let ty = match of {
        TextOf::Split => TyId::TEXTS,
        _ => TyId::TEXT,
    };
    Next::Is(or_null_like(rule, ty, given, true))
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

/// The rule of `text`.
pub fn join(rule: &mut Rule) -> Next {
    let list = rule.field("parts");
    if let Some(node) = list.filter(|node| rule.source.shape(*node) != ptc_json::Shape::List) {
        if rule.stage == 0 {
            return rule.visit("parts", How::Expr);
        }
        let last = rule.last();
        rule.need(last, Kinds::LIST, Subject::Operand("parts"), node);
        rule.read_all(last);
        return Next::Is(TyId::TEXT);
    }
    if rule.stage > 0 {
        let last = rule.last();
        rule.read_all(last);
    }
    let input = rule.current;
    match rule.next_element(list) {
        Some(part) => Next::Visit(Visit::new(part, How::Template, input)),
        None => Next::Is(TyId::TEXT),
    }
}

/// The rule of `matches`: it holds for texts only.
pub fn matches(rule: &mut Rule) -> Next {
    if rule.field("left").is_some() && rule.stage == 0 {
        return rule.visit("left", How::Template);
    }
    let given = match rule.stage {
        0 => own(rule),
        _ => super::input::operand(rule.last(), "left"),
    };
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
    Next::Is(TyId::BOOL)
}

/// The rule of `typeof`.
pub fn kind(rule: &mut Rule) -> Next {
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
        return Next::Is(TyId::TEXT);
    }
    let mut all = TyId::NEVER;
    for (kind, word) in words {
        if kinds.meets(kind) {
            let word = rule.types().text(word);
            all = rule.types().union(all, word);
        }
    }
    Next::Is(all)
}

/// What can be a date.
const DATE: Kinds = TEXT.or(Kinds::OBJECT);

/// The rule of `date_add` and `date_part`.
pub fn date(rule: &mut Rule, of: DateOf) -> Next {
    let first = visited(rule);
    let given = match one(rule, How::Template) {
        Ok(given) if rule.stage <= first => given,
        Ok(_) => {
            let (last, node) = (rule.last(), rule.place("amount"));
            let given = *rule.kept(0);
            if rule.types().kinds(given).within(Kinds::NULL) {
                return Next::Is(TyId::NULL);
            }
            integer(rule, last, Subject::Operand("amount"), node);
            return Next::Is(or_null_like(rule, TyId::TEXT, given, true));
        }
        Err(next) => return next,
    };
    let node = place(rule);
    is_date(rule, given.ty, given.subject, node);
    *rule.kept(0) = given.ty;
    if of == DateOf::Sum {
        // For null it is not evaluated.
        let dead = rule.types().kinds(given.ty).within(Kinds::NULL);
        return match rule.visit_of("amount", How::Template) {
            Some(visit) => Next::Visit(Visit { dead, ..visit }),
            None => rule.absent(),
        };
    }
    let ty = match rule.text("part") {
        Some(b"date" | b"month_start" | b"week_start" | b"year_month") => TyId::TEXT,
        _ => TyId::INT,
    };
    Next::Is(or_null_like(rule, ty, given.ty, true))
}

/// The rule of `date_diff`.
pub fn date_diff(rule: &mut Rule) -> Next {
    let name = match rule.stage {
        0 => return rule.visit("from", How::Template),
        1 => "from",
        _ => "to",
    };
    let (last, node) = (rule.last(), rule.place(name));
    is_date(rule, last, Subject::Operand(name), node);
    if rule.stage == 1 {
        *rule.kept(0) = last;
        return rule.visit("to", How::Template);
    }
    let from = *rule.kept(0);
    let both = rule.types().union(from, last);
    Next::Is(or_null_like(rule, TyId::INT, both, true))
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
