//! The walks of signatures, compared with a small recursive oracle: without suspension, in quanta of
//! any length, and with a memo from the start.

use super::model::{add, ty, val, Choices, Ty, Val, NAMES};
use super::resumed;
use ptc_term::heap::Heap;
use ptc_term::meter::{Deadline, Limits, Meter, Pace};
use ptc_term::names::{candidates, is_firewalled, Matching};
use ptc_term::number::Number;
use ptc_term::plain::{PlainHeap, Term};
use ptc_term::suspend::Rooted;
use ptc_term::value::Decimal;
use ptc_type::coerce::Question;
use ptc_type::walk::Task;
use ptc_type::{
    lenient, Check, Coerce, Got, PathStep, Purpose, Rules, Scalar, State, Types, Walk, WalkEnd,
    Wrong,
};
use std::collections::HashMap;

/// The result of a walk: the findings (path, firewalled, message), and for a coercion the value and the
/// warnings.
#[derive(Debug, PartialEq)]
struct End {
    findings: Vec<String>,
    becomes: Option<(String, Vec<String>)>,
}

/// Any bytes are a type and a value; every kind of walk gives the result of the oracle.
pub fn walk(bytes: &[u8]) {
    let mut choices = Choices(bytes);
    let of = ty(&mut choices, 4);
    let value = val(&mut choices, &of, 4);
    let pauses = [usize::MAX, 1 + choices.below(30), 1 + choices.below(4)];
    let mut lab = Lab::new(&of, &value);
    let oracle = Oracle::new(None);
    let expected = oracle.end(&of, &value);
    for pause in pauses {
        for memo_after in [usize::MAX, 0] {
            let shown = format!("{of:?}\n{value:?}\npause {pause}, memo {memo_after}");
            let checked = lab.check(pause, memo_after);
            assert_eq!(checked, expected, "{shown}");
            for purpose in [Purpose::Coerce, Purpose::Input] {
                let expected = Oracle::new(Some(purpose)).end(&of, &value);
                let coerced = lab.coerce(purpose, pause, memo_after);
                assert_eq!(coerced, expected, "{purpose:?} {shown}");
            }
        }
    }
}

struct Lab {
    heap: PlainHeap,
    types: Types,
    root: ptc_type::TypeId,
    value: Term,
}

fn meter() -> Meter {
    let limits = Limits {
        deadline: Deadline::Never,
        words: usize::MAX,
    };
    Meter::new(limits, Pace::Quantum)
}

impl Lab {
    fn new(of: &Ty, value: &Val) -> Self {
        let mut heap = PlainHeap::new();
        let _ = NAMES.map(|name| heap.atom(name));
        heap.atom("ok");
        let mut types = Types::new();
        let root = add(&mut types, of);
        let value = value.term(&mut heap, &mut HashMap::new());
        Lab {
            heap,
            types,
            root,
            value,
        }
    }

    /// Walks to the end; `read` returns the result.
    fn run<K, R>(
        &mut self,
        task: K,
        (pause, memo_after): (usize, usize),
        read: impl FnOnce(&mut Walk<PlainHeap, K>, Result<K::Done, WalkEnd>) -> R,
    ) -> R
    where
        K: Task<PlainHeap> + Rooted<Term = Term>,
        K::With<()>: Rooted<Term = (), With<Term> = K>,
    {
        let (heap, types) = (&mut self.heap, &self.types);
        let state = State::new((self.value, self.root), task);
        let mut walk = Walk::new(heap, types, state, (meter(), Pace::Quantum));
        walk.remember_after(memo_after);
        loop {
            if pause < usize::MAX {
                walk.pause_after(pause);
            }
            match walk.run() {
                Err(WalkEnd::SliceOver) => {
                    let (state, heap, _) = walk.into_state();
                    let (state, _) = resumed(state, heap);
                    walk = Walk::new(heap, types, state, (meter(), Pace::Quantum));
                }
                end => return read(&mut walk, end),
            }
        }
    }

    fn check(&mut self, pause: usize, memo_after: usize) -> End {
        let types = self.types.clone();
        self.run(
            Check::by(Rules::default()),
            (pause, memo_after),
            |walk, end| {
                assert_eq!(end, Ok(()));
                End {
                    findings: findings(walk, &types),
                    becomes: None,
                }
            },
        )
    }

    fn coerce(&mut self, purpose: Purpose, pause: usize, memo_after: usize) -> End {
        let (types, value) = (self.types.clone(), self.value);
        let mut answers = None;
        loop {
            let task = Coerce::new(purpose, answers);
            let end = self.run(task, (pause, memo_after), |walk, end| {
                if walk.state.task.asks() {
                    let (questions, values) = walk.state.task.questions(walk.heap);
                    let asked = questions.iter().zip(values);
                    return Err(asked.map(|(question, value)| (*question, *value)).collect());
                }
                let mut findings = findings(walk, &types);
                let Ok(done) = end else {
                    // Where a coercion ends, nobody asks for the way to an improper list.
                    findings.iter_mut().for_each(without_way);
                    return Ok((findings, None));
                };
                let mut warnings = Vec::new();
                let mut rest = walk.state.task.warnings.list(walk.heap);
                while let Some((warning, tail)) = walk.heap.uncons(rest) {
                    warnings
                        .push(String::from_utf8_lossy(walk.heap.bytes(warning).unwrap()).into());
                    rest = tail;
                }
                Ok((findings, Some((done, warnings))))
            });
            match end {
                Err(asked) => answers = Some(self.answers(asked)),
                Ok((findings, None)) => {
                    return End {
                        findings,
                        becomes: None,
                    }
                }
                Ok((findings, Some((done, warnings)))) => {
                    let made = done.unwrap_or(value);
                    let same = made == value || !self.heap.identical(made, value);
                    assert!(same, "{} was made anew", self.heap.show(value));
                    let shown = self.heap.show(made);
                    return End {
                        becomes: findings.is_empty().then_some((shown, warnings)),
                        findings,
                    };
                }
            }
        }
    }

    /// A model of Elixir's answers: texts of one letter are dates.
    fn answers(&mut self, asked: Vec<(Question, Term)>) -> Term {
        let heap = &mut self.heap;
        let answers: Vec<Term> = asked
            .iter()
            .map(|(_, value)| {
                let ok = heap.atom("ok");
                match heap.bytes(*value).map(<[u8]>::len) {
                    Some(1) => {
                        let warning = heap.make_string(b"a date");
                        let warnings = heap.make_list(&[warning]);
                        heap.tuple(&[ok, ok, warnings])
                    }
                    _ => heap.tuple(&[ok, ok]),
                }
            })
            .collect();
        heap.make_list(&answers)
    }
}

fn findings<K: Task<PlainHeap>>(walk: &mut Walk<PlainHeap, K>, types: &Types) -> Vec<String> {
    let (heap, findings) = (&*walk.heap, &mut walk.state.findings);
    let values = findings.values(heap).to_vec();
    let text = |number: usize| {
        let finding = findings.all()[number];
        let path = findings.path(number).iter().map(|step| match step {
            PathStep::Field(field) => {
                String::from_utf8_lossy(types.field(*field as usize).name).into()
            }
            PathStep::Index(index) => index.to_string(),
            PathStep::Key(place) => heap.show(findings.key(*place)),
        });
        let path: Vec<String> = path.collect();
        let value = findings.value_at(number).map(|at| values[at]);
        let message = match finding.wrong {
            Wrong::Mismatch(mismatch) if mismatch.got == Got::Other => {
                format!("{mismatch}{}", heap.show(value.expect("it is to be shown")))
            }
            Wrong::Mismatch(mismatch) => mismatch.to_string(),
            Wrong::Unexpected => {
                let mut keys = value.expect("they are to be named");
                let mut names = Vec::new();
                while let Some((key, rest)) = heap.uncons(keys) {
                    names.push(heap.show(key));
                    keys = rest;
                }
                names.sort();
                format!("unexpected {names:?}")
            }
            other => format!("{other:?}"),
        };
        let hidden = if finding.hidden { " hidden" } else { "" };
        format!("{}{hidden}: {message}", path.join("."))
    };
    (0..findings.count()).map(text).collect()
}

fn without_way(finding: &mut String) {
    if finding.ends_with("improper list") {
        *finding = ": expected list, got improper list".into();
    }
}

/// The rules of the walks, by recursion over small values.
struct Oracle {
    purpose: Option<Purpose>,
    findings: Vec<String>,
    warnings: Vec<String>,
}

impl Oracle {
    fn new(purpose: Option<Purpose>) -> Self {
        Oracle {
            purpose,
            findings: Vec::new(),
            warnings: Vec::new(),
        }
    }

    fn end(mut self, of: &Ty, value: &Val) -> End {
        let becomes = self.part(of, value, &mut Vec::new());
        let failed = self.purpose.is_none() || !self.findings.is_empty();
        End {
            becomes: (!failed).then(|| {
                let mut heap = PlainHeap::new();
                let becomes = becomes.unwrap_or(Val::Tuple);
                let term = becomes.term(&mut heap, &mut HashMap::new());
                (heap.show(term), self.warnings)
            }),
            findings: self.findings,
        }
    }

    fn find(&mut self, path: &[String], message: String) {
        let hidden = path.iter().any(|name| is_firewalled(name.as_bytes()));
        let hidden = if hidden { " hidden" } else { "" };
        self.findings
            .push(format!("{}{hidden}: {message}", path.join(".")));
    }

    /// Coerces a value; `None` ends a coercion.
    fn part(&mut self, of: &Ty, value: &Val, path: &mut Vec<String>) -> Option<Val> {
        match (of, value) {
            (Ty::Optional(_), Val::Atom("nil")) => Some(value.clone()),
            (Ty::Optional(inner), _) => self.part(inner, value, path),
            (Ty::Scalar(scalar), _) => self.scalar(*scalar, value, path),
            (Ty::List(inner), Val::List(items, end)) => {
                if end.is_some() {
                    // Where a coercion ends, it does not say where.
                    let place: &[String] = match self.purpose {
                        Some(Purpose::Coerce) => &[],
                        _ => path,
                    };
                    self.find(place, "expected list, got improper list".into());
                    return self.resume(value);
                }
                let mut made = Vec::new();
                for (index, item) in items.iter().enumerate() {
                    path.push(index.to_string());
                    made.push(self.part(inner, item, path)?);
                    path.pop();
                }
                Some(Val::List(made, None))
            }
            (Ty::Map(fields, closed), Val::Map(entries)) => {
                let mut made: Vec<((bool, String), Val)> = Vec::new();
                for (name, of) in fields {
                    path.push(name.to_string());
                    match self.key(name, value) {
                        Some(key) => {
                            let found = value.at(key.0, &key.1)?;
                            let becomes = self.part(of, found, path)?;
                            made.retain(|(other, _)| *other != key);
                            made.push((key, becomes));
                        }
                        None if matches!(of, Ty::Optional(_)) => {}
                        None => {
                            self.find(path, "expected field, got nil".into());
                            self.resume(value)?;
                        }
                    }
                    path.pop();
                }
                let is_made = |key: &(bool, String)| made.iter().any(|(other, _)| other == key);
                let more = entries.iter().filter(|(key, _)| !is_made(key));
                let mut more: Vec<String> = more.map(|(key, _)| shown_key(key)).collect();
                if *closed && !more.is_empty() {
                    more.sort();
                    self.find(path, format!("unexpected {more:?}"));
                    self.resume(value)?;
                }
                Some(Val::Map(made))
            }
            (Ty::List(_), _) => self.refuse("list", value, path),
            (Ty::Map(..), _) => self.refuse("map", value, path),
        }
    }

    fn key(&self, name: &str, map: &Val) -> Option<(bool, String)> {
        let matching = match self.purpose {
            Some(Purpose::Coerce) => Matching::Exact,
            _ => Matching::Lenient,
        };
        let names = candidates(name.as_bytes(), matching).into_iter();
        let names = names.map(|name| String::from_utf8(name).unwrap());
        let mut keys = names.flat_map(|name| [(true, name.clone()), (false, name)]);
        keys.find(|(is_atom, name)| map.at(*is_atom, name).is_some())
    }

    fn resume(&self, value: &Val) -> Option<Val> {
        (self.purpose != Some(Purpose::Coerce)).then(|| value.clone())
    }

    fn refuse(&mut self, expected: &str, value: &Val, path: &[String]) -> Option<Val> {
        let got = match value {
            Val::Atom("true" | "false") => "bool",
            Val::Atom(_) => "keyword",
            Val::Int(_) => "int",
            Val::Float(_) => "float",
            Val::Str(_) => "string",
            Val::List(..) => "list",
            Val::Map(_) => "map",
            Val::Tuple => "{nil}",
        };
        self.find(path, format!("expected {expected}, got {got}"));
        self.resume(value)
    }

    fn scalar(&mut self, scalar: Scalar, value: &Val, path: &[String]) -> Option<Val> {
        let expected = match scalar {
            Scalar::DateTime => "datetime (%DateTime{})",
            Scalar::Date => "date (%Date{})",
            _ => scalar.name(),
        };
        let coerces = self.purpose.is_some();
        let fits = match (scalar, value) {
            (Scalar::Any, _) | (Scalar::String, Val::Str(_)) | (Scalar::Int, Val::Int(_)) => true,
            (Scalar::Float, Val::Float(_)) | (Scalar::Keyword, Val::Atom(_)) => true,
            (Scalar::Float, Val::Int(_)) => !coerces,
            (Scalar::Number, Val::Int(_) | Val::Float(_)) => true,
            (Scalar::Bool, Val::Atom("true" | "false")) | (Scalar::Map, Val::Map(_)) => true,
            (Scalar::Decimal, Val::Str(text)) => {
                !coerces
                    && text.starts_with(|first: char| first == '-' || first.is_ascii_digit())
                    && Decimal::read(text.as_bytes()).is_some_and(|decimal| decimal.is_finite())
            }
            (Scalar::Keyword, Val::Str(text)) => {
                !coerces && !text.is_empty() && !text.contains([' ', '.'])
            }
            _ => false,
        };
        if fits {
            return Some(value.clone());
        }
        if !coerces {
            return self.refuse(expected, value, path);
        }
        let (becomes, target) = match (scalar, value) {
            (Scalar::Float, Val::Int(value)) => return Some(Val::Float(*value as f64)),
            (Scalar::String, Val::Atom(name)) => {
                self.warnings.push("coerced keyword to string".into());
                return Some(Val::Str(name.to_string()));
            }
            (Scalar::DateTime | Scalar::Date | Scalar::Decimal, Val::Str(text))
                if text.len() == 1 =>
            {
                self.warnings.push("a date".into());
                return Some(Val::Atom("ok"));
            }
            (Scalar::DateTime | Scalar::Date | Scalar::Decimal, Val::Str(_))
            | (Scalar::Decimal, Val::Int(_) | Val::Float(_))
                if self.purpose == Some(Purpose::Coerce) =>
            {
                self.find(path, "Answered".into());
                return None;
            }
            (Scalar::Int, Val::Str(text)) => match lenient::integer(text.as_bytes()) {
                Some(Number::Int(value)) => (Some(Val::Int(value)), "integer"),
                _ => (None, ""),
            },
            (Scalar::Number, Val::Str(text)) => match lenient::integer(text.as_bytes()) {
                Some(Number::Int(value)) => (Some(Val::Int(value)), "integer"),
                Some(_) => (None, ""),
                None => {
                    let value = lenient::float(text.as_bytes());
                    (value.map(Val::Float), "float")
                }
            },
            (Scalar::Float, Val::Str(text)) => {
                let value = lenient::float(text.as_bytes());
                (value.map(Val::Float), "float")
            }
            (Scalar::Bool, Val::Str(text)) => {
                let value = ["true", "false"].into_iter().find(|name| name == text);
                (value.map(Val::Atom), "boolean")
            }
            (Scalar::Keyword, Val::Str(text)) => {
                let all = NAMES.into_iter().chain(["ok", "nil", "true", "false"]);
                let mut all = all.filter(|name| name == text);
                (all.next().map(Val::Atom), "keyword")
            }
            _ => (None, ""),
        };
        let Some(becomes) = becomes else {
            return self.refuse(expected, value, path);
        };
        let hidden = path.iter().any(|name| is_firewalled(name.as_bytes()));
        self.warnings.push(match value {
            Val::Str(text) if !hidden => format!("coerced string \"{text}\" to {target}"),
            _ => format!("coerced string to {target}"),
        });
        Some(becomes)
    }
}

fn shown_key((is_atom, name): &(bool, String)) -> String {
    let mut heap = PlainHeap::new();
    let key = match is_atom {
        true => heap.atom(name),
        false => heap.make_string(name.as_bytes()),
    };
    heap.show(key)
}
