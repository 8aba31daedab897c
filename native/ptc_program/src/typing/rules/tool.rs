//! The rule of tool calls.

use crate::edition::Edition;
use crate::typing::finding::{Detail, FindingCode, Severity};
use crate::typing::fit::Why;
use crate::typing::known::Tool;
use crate::typing::names::NameId;
use crate::typing::rule::Rule;
use crate::typing::ty::{Ty, TyId};
use crate::typing::walk::{How, Next};
use ptc_json::Node;

/// The rule of `call`: the arguments, then the value if the tool fails.
pub fn call(rule: &mut Rule) -> Next {
    let args = rule.field("args");
    if rule.stage == 0 {
        *rule.kept(2) = TyId(rule.walk.operations);
        let how = match rule.edition() {
            Edition::One => How::Constant,
            Edition::Two => How::Arguments,
        };
        if let (Some(node), Some(visit)) = (args, rule.visit_of("args", how)) {
            if rule.source.is_map(node) {
                return Next::Visit(visit);
            }
        }
        let mut none = Vec::new();
        let given = rule.types().object(&mut none, false);
        return called(rule, given);
    }
    if *rule.number() == 0 {
        let given = rule.last();
        return called(rule, given);
    }
    let (answer, last) = (*rule.kept(0), rule.last());
    Next::Is(rule.types().union(answer, last))
}

/// Checks the arguments; then visits the value for a failure, if there is one.
fn called(rule: &mut Rule, given: TyId) -> Next {
    *rule.number() = 1;
    rule.read_all(given);
    let Some(name) = rule.name("tool") else {
        return Next::Is(TyId::UNKNOWN);
    };
    // A name that is too long is the name of no tool that is known.
    if !rule.walk.is_dead() && !rule.types().names.is_long(name) {
        rule.walk.called.push(name);
    }
    let is_constant = rule.walk.operations == rule.kept(2).0;
    if rule.walk.loops > 0 && is_constant {
        let node = rule.node;
        rule.warn(FindingCode::ConstantCall, node, vec![Detail::Name(name)]);
    }
    let answer = match tool(rule, name) {
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
    };
    *rule.kept(0) = answer;
    match rule.visit_of("on_error", How::Template) {
        Some(mut visit) => {
            let error = rule.types().names.id(b"error");
            visit.binds[0] = Some((error, TyId::TEXT));
            Next::Visit(visit)
        }
        None => Next::Is(answer),
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
