//! What a program says of its tools and its data before it runs: each call with its constants and whether it is made once, and which
//! data it reads.

use super::free::children;
use crate::ast::{Analyzed, Clause, Expr, ExprId, Literal};
use std::collections::BTreeSet;

/// A place of the program that calls a tool, or that has one as a value.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSite {
    /// The tool.
    pub tool: String,
    /// Whether it is called here no more than once. In a loop, in a function and as a value it may be called any number of times.
    pub once: bool,
    /// The arguments by their names, each with its value if that is a constant; `None` if not even the names are known.
    pub arguments: Option<Vec<(String, Option<Literal>)>>,
}

/// Returns the places that call tools, in the order of the expressions.
pub(super) fn sites(source: &Analyzed) -> Vec<ToolSite> {
    if source.tools.is_empty() && source.added.is_empty() {
        return Vec::new();
    }
    let mut found: Vec<(ExprId, ToolSite)> = Vec::new();
    let in_functions = source.functions.iter().map(|it| (it.body, false));
    let mut open: Vec<(ExprId, bool)> = source.root.iter().map(|it| (*it, true)).collect();
    open.extend(in_functions);
    while let Some((id, once)) = open.pop() {
        let expr = &source.exprs[id as usize];
        match expr {
            Expr::CallTool(name, argument) => {
                let tool = source.names[*name as usize].clone();
                let arguments = arguments(source, *argument);
                let site = ToolSite {
                    tool,
                    once,
                    arguments,
                };
                found.push((id, site));
            }
            Expr::Tool(name) => {
                let tool = source.names[*name as usize].clone();
                let site = ToolSite {
                    tool,
                    once: false,
                    arguments: None,
                };
                found.push((id, site));
            }
            _ => {}
        }
        match expr {
            Expr::Loop(bindings, body) => {
                open.extend(bindings.iter().map(|(_, it)| (*it, once)));
                open.push((*body, false));
            }
            // The first collection is evaluated once.
            Expr::For { clauses, .. } => {
                let first = match clauses.first() {
                    Some(Clause::Each(_, first)) => Some(*first),
                    _ => None,
                };
                children(expr, &mut |it| open.push((it, once && Some(it) == first)));
            }
            expr => children(expr, &mut |it| open.push((it, once))),
        }
    }
    found.sort_by_key(|(id, _)| *id);
    found.into_iter().map(|(_, site)| site).collect()
}

/// Returns the arguments of a call by the names that its tool gets.
pub(super) fn arguments(
    source: &Analyzed,
    argument: Option<ExprId>,
) -> Option<Vec<(String, Option<Literal>)>> {
    let Some(argument) = argument else {
        return Some(Vec::new());
    };
    let Expr::Map(pairs) = &source.exprs[argument as usize] else {
        return None;
    };
    let mut names = BTreeSet::new();
    let mut arguments = Vec::with_capacity(pairs.len());
    for (key, value) in pairs {
        let (Expr::Const(Literal::Keyword(name)) | Expr::Const(Literal::Str(name))) =
            &source.exprs[*key as usize]
        else {
            return None;
        };
        let name = name.replace('-', "_");
        // Of two names that are one for the tool, only the run says which counts.
        if !names.insert(name.clone()) {
            return None;
        }
        arguments.push((name, constant(&source.exprs[*value as usize])));
    }
    Some(arguments)
}

/// Returns a constant that a tool gets as it is written.
fn constant(expr: &Expr) -> Option<Literal> {
    match expr {
        Expr::Const(
            literal @ (Literal::Nil
            | Literal::Bool(_)
            | Literal::Int(_)
            | Literal::Large(_)
            | Literal::Float(_)
            | Literal::Str(_)),
        ) => Some(literal.clone()),
        _ => None,
    }
}

/// Returns the names of the data that a program reads, each once and in their order as texts.
pub(super) fn data(source: &Analyzed) -> Vec<String> {
    let read = source.exprs.iter().filter_map(|expr| match expr {
        Expr::Data(name) => Some(source.names[*name as usize].as_str()),
        _ => None,
    });
    let names: BTreeSet<&str> = read.collect();
    names.into_iter().map(str::to_owned).collect()
}
