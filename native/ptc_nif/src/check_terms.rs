//! Types and findings as terms.

use crate::atoms;
use crate::raw::{self, Raw};
use ptc_program::typing::finding::{Detail, Finding, Severity, Subject};
use ptc_program::typing::job::PathStep;
use ptc_program::typing::names::NameId;
use ptc_program::typing::ty::{Kinds, Ty, TyId, Types};
use rustler::types::atom::Atom;
use rustler::Encoder;
use std::collections::HashMap;

rustler::atoms! {
    warning, never, open_map, union, literal, boolean, number, text, object, input, items, field, items_field, operand, part,
    each, context, memory
}

/// Maximum number of parts of a type's term; a larger one is `:any`.
const MOST_PARTS: usize = 2_000;

/// Makes terms of types and findings.
pub struct CheckTerms<'t, 'a> {
    terms: raw::Terms<'a>,
    types: &'t Types,
    /// The terms so far, with the number of their parts.
    made: HashMap<TyId, (Raw<'a>, usize)>,
}

impl<'t, 'a> CheckTerms<'t, 'a> {
    pub fn new(terms: raw::Terms<'a>, types: &'t Types) -> Self {
        let made = HashMap::new();
        CheckTerms { terms, types, made }
    }

    fn atom(&self, atom: Atom) -> Raw<'a> {
        atom.encode(self.terms.env).into()
    }

    fn name(&self, name: NameId) -> Raw<'a> {
        self.terms.make_binary(self.types.names.get(name))
    }

    /// A type. Parts have smaller numbers than what contains them, so all are made in ascending order.
    pub fn of_type(&mut self, id: TyId) -> Raw<'a> {
        let (mut open, mut all) = (vec![id], Vec::new());
        while let Some(id) = open.pop() {
            if all.len() >= MOST_PARTS {
                return self.atom(atoms::any());
            }
            if self.made.contains_key(&id) || all.contains(&id) {
                continue;
            }
            all.push(id);
            match self.types.get(id) {
                Ty::List(item) => open.push(item),
                Ty::Union(_) => open.extend_from_slice(self.types.members(&id)),
                Ty::Object(span, _) => {
                    open.extend(self.types.fields(span).iter().map(|field| field.ty));
                }
                _ => {}
            }
        }
        all.sort_unstable();
        for id in all {
            let made = self.make(id);
            self.made.insert(id, made);
        }
        self.part(id).0
    }

    /// A part that was made before.
    fn part(&self, id: TyId) -> (Raw<'a>, usize) {
        let made = self.made.get(&id).copied();
        match made.filter(|(_, parts)| *parts <= MOST_PARTS) {
            Some(made) => made,
            None => (self.atom(atoms::any()), 1),
        }
    }

    fn pair(&self, tag: Atom, of: Raw<'a>) -> Raw<'a> {
        self.terms.make_tuple(&[self.atom(tag), of])
    }

    fn make(&self, id: TyId) -> (Raw<'a>, usize) {
        let atom = |atom| (self.atom(atom), 1);
        let of_literal = |term: Raw<'a>| (self.pair(literal(), term), 1);
        match self.types.get(id) {
            Ty::Unknown | Ty::NoInput => atom(atoms::any()),
            Ty::Never => atom(never()),
            Ty::Null => of_literal(self.atom(atoms::nil())),
            Ty::Bool => atom(atoms::bool()),
            Ty::Int => atom(atoms::int()),
            Ty::Number => atom(atoms::float()),
            Ty::Text => atom(atoms::string()),
            Ty::Moment => atom(atoms::datetime()),
            Ty::Keyword => atom(atoms::keyword()),
            Ty::BoolOf(true) => of_literal(self.atom(atoms::true_())),
            Ty::BoolOf(false) => of_literal(self.atom(atoms::false_())),
            Ty::IntOf(value) => of_literal(self.terms.make_integer(value)),
            Ty::FloatOf(bits) => match self.terms.make_float(f64::from_bits(bits)) {
                Some(term) => of_literal(term),
                None => atom(atoms::float()),
            },
            Ty::TextOf(name) => of_literal(self.name(name)),
            Ty::List(item) => {
                let (term, parts) = self.part(item);
                (self.pair(atoms::list(), term), parts + 1)
            }
            Ty::Object(span, true) if span.count() == 0 => atom(atoms::map()),
            Ty::Object(span, open) => {
                let mut fields = self.types.fields(span).to_vec();
                let names = &self.types.names;
                fields.sort_by(|a, b| names.get(a.name).cmp(names.get(b.name)));
                let (mut all, mut count) = (Vec::new(), 1);
                for field in fields {
                    let (mut term, parts) = match field.optional {
                        true => self.not_null(field.ty),
                        false => self.part(field.ty),
                    };
                    if field.optional {
                        term = self.pair(atoms::optional(), term);
                    }
                    all.push(self.terms.make_tuple(&[self.name(field.name), term]));
                    count += parts + 1;
                }
                let tag = if open { open_map() } else { atoms::map() };
                (self.pair(tag, self.terms.make_list(&all)), count)
            }
            Ty::Union(_) => {
                let (mut all, mut count) = (Vec::new(), 1);
                for member in self.types.members(&id) {
                    let (term, parts) = self.part(*member);
                    all.push(term);
                    count += parts;
                }
                (self.pair(union(), self.terms.make_list(&all)), count)
            }
        }
    }

    /// The type of an optional field, where null is not mentioned.
    fn not_null(&self, id: TyId) -> (Raw<'a>, usize) {
        let members = self.types.members(&id).iter();
        let others: Vec<TyId> = members.copied().filter(|it| *it != TyId::NULL).collect();
        match others.as_slice() {
            [] => self.part(id),
            [only] => self.part(*only),
            others => {
                let parts: Vec<_> = others.iter().map(|it| self.part(*it)).collect();
                let count = parts.iter().map(|(_, count)| count).sum::<usize>() + 1;
                let terms: Vec<_> = parts.iter().map(|(term, _)| *term).collect();
                (self.pair(union(), self.terms.make_list(&terms)), count)
            }
        }
    }

    /// `{severity, code, path, op, details}`
    pub fn finding(&mut self, finding: &Finding, path: &[PathStep]) -> Raw<'a> {
        let env = self.terms.env;
        let severity = match finding.severity {
            Severity::Error => atoms::error(),
            Severity::Warning => warning(),
        };
        let step = |step: &PathStep| match step {
            PathStep::Key(key) => self.terms.make_binary(key),
            PathStep::Index(index) => self.terms.make_integer(i64::from(*index)),
        };
        let path: Vec<Raw<'a>> = path.iter().map(step).collect();
        let path = self.terms.make_list(&path);
        let op = match finding.op {
            Some(op) => Raw::from(op.name().encode(env)),
            None => self.atom(atoms::nil()),
        };
        let details: Vec<Raw<'a>> = finding.details.iter().map(|it| self.detail(it)).collect();
        let details = self.terms.make_list(&details);
        let code = self.atom(atoms::named(env, finding.code));
        self.terms
            .make_tuple(&[self.atom(severity), code, path, op, details])
    }

    fn detail(&mut self, detail: &Detail) -> Raw<'a> {
        match detail {
            Detail::None => self.atom(atoms::nil()),
            Detail::Bool(true) => self.atom(atoms::true_()),
            Detail::Bool(false) => self.atom(atoms::false_()),
            Detail::Word(word) => self.terms.make_binary(word.as_bytes()),
            Detail::Name(name) => self.name(*name),
            Detail::Names(names) => {
                let names: Vec<_> = names.iter().map(|name| self.name(*name)).collect();
                self.terms.make_list(&names)
            }
            Detail::Context(true) => self.atom(context()),
            Detail::Context(false) => self.atom(memory()),
            Detail::Kinds(kinds) => self.kinds(*kinds),
            Detail::Type(id) => self.of_type(*id),
            Detail::Subject(subject) => self.subject(*subject),
            Detail::Path(path) => {
                let step = |step: &Option<NameId>| match step {
                    Some(name) => self.name(*name),
                    None => self.atom(each()),
                };
                let path: Vec<_> = path.iter().map(step).collect();
                self.terms.make_list(&path)
            }
        }
    }

    fn kinds(&self, kinds: Kinds) -> Raw<'a> {
        let all = [
            (Kinds::NULL, atoms::null()),
            (Kinds::BOOL, boolean()),
            (Kinds::NUMBER, number()),
            (Kinds::TEXT, text()),
            (Kinds::LIST, atoms::list()),
            (Kinds::OBJECT, object()),
            (Kinds::OTHER, atoms::other()),
        ];
        let found = all.into_iter().filter(|(kind, _)| kinds.meets(*kind));
        let found: Vec<_> = found.map(|(_, word)| self.atom(word)).collect();
        self.terms.make_list(&found)
    }

    fn subject(&self, subject: Subject) -> Raw<'a> {
        let word = |word: &str| self.terms.make_binary(word.as_bytes());
        match subject {
            Subject::Input => self.atom(input()),
            Subject::Items => self.atom(items()),
            Subject::Field(name) => self.pair(field(), self.name(name)),
            Subject::ItemsField(name) => self.pair(items_field(), self.name(name)),
            Subject::Operand(name) => self.pair(operand(), word(name)),
            Subject::Part(name, index) => {
                let index = self.terms.make_integer(i64::from(index));
                self.terms
                    .make_tuple(&[self.atom(part()), word(name), index])
            }
        }
    }
}
