//! What a program says of its tools and its data before it runs: how often it calls each tool at most, and which data it reads.

use super::free::children;
use crate::ast::{Analyzed, Clause, Expr, ExprId, NameId};
use std::collections::{BTreeMap, BTreeSet};

/// Calls of a tool: no more than this number, or `None` where only the run knows.
type Most = Option<u32>;

/// Returns how often each tool is called at most, by name. A call in a loop or in a function, and a tool that is a value, may be made
/// any number of times.
pub(super) fn most_calls(source: &Analyzed) -> Vec<(String, Most)> {
    if source.tools.is_empty() && source.added.is_empty() {
        return Vec::new();
    }
    let mut most: BTreeMap<&str, Most> = BTreeMap::new();
    let mut note = |name: NameId, once: bool| {
        let count = most
            .entry(source.names[name as usize].as_str())
            .or_insert(Some(0));
        *count = count.filter(|_| once).map(|count| count.saturating_add(1));
    };
    let in_functions = source.functions.iter().map(|it| (it.body, false));
    let mut open: Vec<(ExprId, bool)> = source.root.iter().map(|it| (*it, true)).collect();
    open.extend(in_functions);
    while let Some((expr, once)) = open.pop() {
        let expr = &source.exprs[expr as usize];
        match expr {
            Expr::CallTool(name, _) => note(*name, once),
            Expr::Tool(name) => note(*name, false),
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
    most.into_iter()
        .map(|(name, most)| (name.to_owned(), most))
        .collect()
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
