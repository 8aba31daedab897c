//! The rule of tool calls.

use crate::analysis::names::NameId;
use crate::typing::finding::{Detail, FindingCode, Severity};
use crate::typing::fit::Why;
use crate::typing::known::Tool;
use crate::typing::rule::Rule;
use crate::typing::ty::{Ty, TyId};
use crate::typing::walk::TypePart;
use ptc_json::Node;

/// A part of `call`: the arguments, or the value if the tool fails.
pub fn before(rule: &mut Rule, part: &mut TypePart) {
    match part.field {
        "args" => rule.own().count = rule.walk.operations,
        _ => {
            answer(rule);
            let error = rule.types().names.id(b"error");
            part.bind = Some((error, TyId::TEXT));
        }
    }
}

/// The type of `call`.
pub fn call(rule: &mut Rule) -> TyId {
    let answer = answer(rule);
    match rule.walk.stack.part_in("on_error") {
        Some(other) => rule.types().union(answer, other),
        None => answer,
    }
}

/// Checks the arguments, once. Returns the type of the answer.
fn answer(rule: &mut Rule) -> TyId {
    if !rule.own().begun {
        let given = match rule.walk.stack.part_in("args") {
            Some(args) => args,
            None => rule.types().object(&mut Vec::new(), false),
        };
        let answer = called(rule, given);
        let own = rule.own();
        (own.begun, own.of) = (true, answer);
    }
    rule.own().of
}

fn called(rule: &mut Rule, given: TyId) -> TyId {
    rule.read_all(given);
    let Some(name) = rule.name("tool") else {
        return TyId::UNKNOWN;
    };
    // A name that is too long is the name of no tool that is known.
    if !rule.walk.is_dead() && !rule.types().names.is_long(name) {
        rule.walk.called.push(name);
    }
    let is_constant = rule.field("args").is_none() || rule.walk.operations == rule.own().count;
    if rule.walk.loops > 0 && is_constant {
        let node = rule.node;
        rule.warn(FindingCode::ConstantCall, node, vec![Detail::Name(name)]);
    }
    match tool(rule, name) {
        Some(tool) => {
            if let Some(params) = tool.params {
                check(rule, name, params, given);
            }
            if tool.ruled {
                let (node, op) = (rule.node, rule.op());
                let details = vec![Detail::Name(name), Detail::Type(given)];
                rule.walk
                    .report(Severity::Note, FindingCode::RuledCall, node, op, details);
            }
            tool.output
        }
        None => TyId::UNKNOWN,
    }
}

fn tool(rule: &mut Rule, name: NameId) -> Option<Tool> {
    let tools = rule.walk.known.tools.as_ref()?;
    if let Some(tool) = tools.used.get(&name) {
        return Some(*tool);
    }
    let names = tools.all.clone();
    let details = rule.named(name, names);
    let node = rule.place("tool");
    rule.error(FindingCode::UnknownTool, node, details);
    None
}

fn check(rule: &mut Rule, tool: NameId, params: TyId, given: TyId) {
    let place = rule.place("args");
    for misfit in rule.types().misfits(given, params, true) {
        let mut path = misfit.path;
        let Some(argument) = (!path.is_empty()).then(|| path.remove(0)).flatten() else {
            continue;
        };
        let node = argument_at(rule, argument).unwrap_or(place);
        let names = |rule: &mut Rule| match rule.types().get(params) {
            Ty::Object(span, _) => rule.types().fields(span).iter().map(|it| it.name).collect(),
            _ => Vec::new(),
        };
        let (code, mut details) = match misfit.why {
            Why::Undeclared => {
                let names = names(rule);
                (FindingCode::UnknownArgument, rule.named(argument, names))
            }
            Why::Missing(ty) if path.is_empty() && misfit.certain => {
                let details = vec![Detail::Name(argument), Detail::Type(ty)];
                (FindingCode::MissingArgument, details)
            }
            Why::Missing(wanted) | Why::Type(wanted, _) => {
                let code = match misfit.certain {
                    true => FindingCode::WrongArgument,
                    false => FindingCode::MaybeWrongArgument,
                };
                let got = match misfit.why {
                    Why::Type(_, got) => got,
                    _ => TyId::NULL,
                };
                let details = vec![
                    Detail::Name(argument),
                    Detail::Path(path),
                    Detail::Type(wanted),
                    Detail::Type(got),
                ];
                (code, details)
            }
        };
        details.insert(0, Detail::Name(tool));
        let op = rule.op();
        let severity = match misfit.certain {
            true => Severity::Error,
            false => Severity::Warning,
        };
        rule.walk.report(severity, code, node, op, details);
    }
}

/// Returns the part of the program that is an argument.
fn argument_at(rule: &mut Rule, name: NameId) -> Option<Node> {
    let (args, source) = (rule.field("args")?, rule.source);
    let text = rule.types().names.get(name).to_vec();
    let mut pairs = source.pairs(args);
    let found = pairs.find(|(key, _)| source.text(*key) == Some(&text));
    found.map(|(_, value)| value)
}
