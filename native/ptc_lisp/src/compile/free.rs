//! Which locals of the functions around it each function uses: what its closures capture.

use crate::ast::{Analyzed, Clause, Entry, Expr, ExprId, FunctionId, LocalId, Pattern};
use crate::patience::{OutOfTime, Patience};

/// Returns what each function captures, in the order of the first use.
pub(super) fn free(
    source: &Analyzed,
    patience: &mut Patience,
) -> Result<Vec<Vec<LocalId>>, OutOfTime> {
    let mut free: Vec<Vec<LocalId>> = vec![Vec::new(); source.functions.len()];
    // For each local the last function that uses it, plus one.
    let mut seen = vec![0; source.locals.len()];
    let mut open = Vec::new();
    // A function stands behind the one around it.
    for function in (0..source.functions.len()).rev() {
        let about = &source.functions[function];
        let is_own = |local: &LocalId| {
            source.locals[*local as usize].function == Some(function as FunctionId)
        };
        let mut found = Vec::new();
        open.push(about.body);
        while let Some(expr) = open.pop() {
            patience.step()?;
            let mut add = |local: LocalId| {
                let seen = &mut seen[local as usize];
                if !is_own(&local) && *seen != function + 1 {
                    *seen = function + 1;
                    found.push(local);
                }
            };
            match &source.exprs[expr as usize] {
                Expr::Local(local) => add(*local),
                Expr::Fn(inner) => free[*inner as usize].iter().for_each(|local| add(*local)),
                expr => children(expr, &mut |child| open.push(child)),
            }
        }
        free[function] = found;
    }
    Ok(free)
}

/// Passes the expressions that are parts of one.
pub fn children(expr: &Expr, visit: &mut impl FnMut(ExprId)) {
    match expr {
        Expr::Const(_)
        | Expr::Local(_)
        | Expr::Global { .. }
        | Expr::Builtin(_)
        | Expr::Data(_)
        | Expr::Tool(_)
        | Expr::History(_)
        | Expr::Budget
        | Expr::Fn(_) => {}
        Expr::Vector(all)
        | Expr::Set(all)
        | Expr::Do(all)
        | Expr::And(all)
        | Expr::Or(all)
        | Expr::Recur(all)
        | Expr::Juxt(all)
        | Expr::Pcalls(all)
        | Expr::BadToolCall(_, all) => all.iter().for_each(|it| visit(*it)),
        Expr::Map(pairs) => pairs.iter().for_each(|(key, value)| {
            visit(*key);
            visit(*value);
        }),
        Expr::If(a, b, c) | Expr::IfNil(a, b, c) => [a, b, c].into_iter().for_each(|it| visit(*it)),
        Expr::Let(bindings, body) | Expr::Loop(bindings, body) => {
            bindings.iter().for_each(|(_, it)| visit(*it));
            visit(*body);
        }
        Expr::Call(first, others) | Expr::Apply(first, others) | Expr::Pmap(first, others) => {
            visit(*first);
            others.iter().for_each(|it| visit(*it));
        }
        Expr::CallTool(_, argument) => argument.iter().for_each(|it| visit(*it)),
        Expr::Def { value, .. } => visit(*value),
        Expr::Return(value) | Expr::Fail(value) => visit(*value),
        Expr::Case {
            subject,
            clauses,
            default,
        } => {
            visit(*subject);
            clauses.iter().for_each(|(_, it)| visit(*it));
            default.iter().for_each(|it| visit(*it));
        }
        Expr::For { clauses, body, .. } => {
            for clause in clauses {
                match clause {
                    Clause::Each(_, it) | Clause::When(it) | Clause::While(it) => visit(*it),
                    Clause::Let(bindings) => bindings.iter().for_each(|(_, it)| visit(*it)),
                }
            }
            visit(*body);
        }
        Expr::Try(body, _, handler) => {
            visit(*body);
            visit(*handler);
        }
    }
}

/// Passes the locals that a pattern binds.
pub(super) fn bound(pattern: &Pattern, visit: &mut impl FnMut(LocalId)) {
    match pattern {
        Pattern::Local(local) => visit(*local),
        Pattern::List(parts, rest) => {
            parts.iter().for_each(|part| bound(part, visit));
            rest.iter().for_each(|part| bound(part, visit));
        }
        Pattern::Map { entries, whole } => {
            let parts = entries.iter().map(|Entry { pattern, .. }| pattern);
            parts.for_each(|part| bound(part, visit));
            whole.iter().for_each(|local| visit(*local));
        }
    }
}
