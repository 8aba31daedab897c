//! Expressions as text, for tests.

use ptc_lisp::ast::{Analyzed, Clause, Expr, ExprId, Literal, LocalId, Pattern};

/// Returns the text of a program's expressions.
pub fn shown(program: &Analyzed) -> String {
    let shower = Shower(program);
    program.root.map_or("".into(), |root| shower.expr(root))
}

struct Shower<'a>(&'a Analyzed);

impl Shower<'_> {
    fn name(&self, name: u32) -> &str {
        &self.0.names[name as usize]
    }

    fn local(&self, local: LocalId) -> String {
        match self.0.locals[local as usize].name.as_str() {
            "a value" => format!("_{local}"),
            name => name.to_string(),
        }
    }

    fn all(&self, word: &str, exprs: &[ExprId]) -> String {
        let exprs: Vec<String> = exprs.iter().map(|expr| self.expr(*expr)).collect();
        form(word, &exprs)
    }

    fn bound(&self, word: &str, bindings: &[(Pattern, ExprId)], body: &[ExprId]) -> String {
        let pair = |(pattern, value): &(Pattern, ExprId)| {
            format!("{} {}", self.pattern(pattern), self.expr(*value))
        };
        let bindings: Vec<String> = bindings.iter().map(pair).collect();
        let body: Vec<String> = body.iter().map(|body| self.expr(*body)).collect();
        form(&format!("{word} [{}]", bindings.join(" ")), &body)
    }

    fn expr(&self, id: ExprId) -> String {
        match &self.0.exprs[id as usize] {
            Expr::Const(value) => literal(value),
            Expr::Local(local) => self.local(*local),
            Expr::Global { name, or_nil } => {
                let mark = if *or_nil { "?" } else { "" };
                format!("{}{mark}", self.name(*name))
            }
            Expr::Builtin(builtin) => format!("builtin:{}", builtin.name()),
            Expr::Data(name) => format!("data/{}", self.name(*name)),
            Expr::Tool(name) => format!("tool/{}", self.name(*name)),
            Expr::History(number) => format!("*{number}"),
            Expr::Budget => "budget".into(),
            Expr::Vector(items) => self.all("vector", items),
            Expr::Map(pairs) => {
                let parts: Vec<ExprId> = pairs.iter().flat_map(|(k, v)| [*k, *v]).collect();
                self.all("map", &parts)
            }
            Expr::Set(items) => self.all("set", items),
            Expr::If(test, then, other) => self.all("if", &[*test, *then, *other]),
            Expr::IfNil(test, then, other) => self.all("if-nil", &[*test, *then, *other]),
            Expr::Do(parts) => self.all("do", parts),
            Expr::And(parts) => self.all("and", parts),
            Expr::Or(parts) => self.all("or", parts),
            Expr::Let(bindings, body) => self.bound("let", bindings, &[*body]),
            Expr::Loop(bindings, body) => self.bound("loop", bindings, &[*body]),
            Expr::Recur(values) => self.all("recur", values),
            Expr::Fn(function) => {
                let function = &self.0.functions[*function as usize];
                let mut params: Vec<String> =
                    function.params.iter().map(|p| self.pattern(p)).collect();
                if let Some(rest) = &function.rest {
                    params.extend(["&".into(), self.pattern(rest)]);
                }
                let own = function.own.map(|own| format!(" {}", self.local(own)));
                let own = own.unwrap_or_default();
                form(
                    &format!("fn{own} [{}]", params.join(" ")),
                    &[self.expr(function.body)],
                )
            }
            Expr::Call(callee, args) => self.all(&self.expr(*callee), args),
            Expr::CallTool(name, argument) => {
                let argument: Vec<ExprId> = argument.iter().copied().collect();
                self.all(&format!("call {}", self.name(*name)), &argument)
            }
            Expr::BadToolCall(name, args) => self.all(&format!("bad {}", self.name(*name)), args),
            Expr::Def {
                name,
                once,
                doc,
                value,
            } => {
                let word = if *once { "defonce" } else { "def" };
                let doc = doc.as_ref().map(|doc| format!(" {doc:?}"));
                let word = format!("{word} {}{}", self.name(*name), doc.unwrap_or_default());
                self.all(&word, &[*value])
            }
            Expr::Return(value) => self.all("return", &[*value]),
            Expr::Fail(value) => self.all("fail", &[*value]),
            Expr::Case {
                subject,
                clauses,
                default,
            } => {
                let mut parts = vec![self.expr(*subject)];
                for (values, result) in clauses {
                    let values: Vec<String> = values.iter().map(literal).collect();
                    parts.push(format!("({}) {}", values.join(" "), self.expr(*result)));
                }
                parts.extend(default.map(|default| self.expr(default)));
                form("case", &parts)
            }
            Expr::For {
                clauses,
                body,
                collects,
            } => {
                let clauses: Vec<String> = clauses.iter().map(|it| self.clause(it)).collect();
                let word = if *collects { "for" } else { "doseq" };
                self.all(&format!("{word} [{}]", clauses.join(" ")), &[*body])
            }
            Expr::Juxt(functions) => self.all("juxt", functions),
            Expr::Apply(function, args) => {
                self.all(&format!("apply {}", self.expr(*function)), args)
            }
            Expr::Pmap(function, args) => self.all(&format!("pmap {}", self.expr(*function)), args),
            Expr::Pcalls(functions) => self.all("pcalls", functions),
            Expr::Try(body, local, handler) => {
                let handler = form(
                    &format!("catch {}", self.local(*local)),
                    &[self.expr(*handler)],
                );
                form("try", &[self.expr(*body), handler])
            }
        }
    }

    fn clause(&self, clause: &Clause) -> String {
        match clause {
            Clause::Each(pattern, coll) => {
                format!("{} {}", self.pattern(pattern), self.expr(*coll))
            }
            Clause::When(test) => format!(":when {}", self.expr(*test)),
            Clause::While(test) => format!(":while {}", self.expr(*test)),
            Clause::Let(bindings) => self.bound(":let", bindings, &[]),
        }
    }

    fn pattern(&self, pattern: &Pattern) -> String {
        match pattern {
            Pattern::Local(local) => self.local(*local),
            Pattern::List(patterns, rest) => {
                let mut parts: Vec<String> = patterns.iter().map(|p| self.pattern(p)).collect();
                if let Some(rest) = rest {
                    parts.extend(["&".into(), self.pattern(rest)]);
                }
                format!("[{}]", parts.join(" "))
            }
            Pattern::Map { entries, whole } => {
                let mut parts = Vec::new();
                for entry in entries {
                    let default = entry.default.as_ref().map(literal);
                    let default = default.map(|default| format!("|{default}"));
                    parts.push(format!(
                        "{} {}{}",
                        self.pattern(&entry.pattern),
                        literal(&entry.key),
                        default.unwrap_or_default()
                    ));
                }
                parts.extend(whole.map(|whole| format!(":as {}", self.local(whole))));
                format!("{{{}}}", parts.join(" "))
            }
        }
    }
}

fn form(word: &str, parts: &[String]) -> String {
    match parts.is_empty() {
        true => format!("({word})"),
        false => format!("({word} {})", parts.join(" ")),
    }
}

fn literal(value: &Literal) -> String {
    match value {
        Literal::Nil => "nil".into(),
        Literal::Bool(value) => value.to_string(),
        Literal::Int(value) => value.to_string(),
        Literal::Large(value) => value.to_string(),
        Literal::Float(value) => format!("{value:?}"),
        Literal::Infinity => "##Inf".into(),
        Literal::NegativeInfinity => "##-Inf".into(),
        Literal::NaN => "##NaN".into(),
        Literal::Str(text) => format!("{text:?}"),
        Literal::Keyword(name) => format!(":{name}"),
        Literal::Regex(source) => format!("#{source:?}"),
        Literal::Symbol(name) => format!("'{name}"),
    }
}
