//! Whether the values of a type can have another one.

use super::finding::Subject;
use super::sources::Sources;
use super::ty::{FieldTy, Kinds, Ty, TyId, Types};
use crate::analysis::names::{ByNumber, NameId};
use ptc_term::names::is_alike;
use std::collections::HashSet;

/// How the values of a type fit another one.
#[derive(Debug, Clone, PartialEq)]
pub struct Misfit {
    /// Where.
    pub path: Vec<Option<NameId>>,
    /// Whether no value fits; else some may not.
    pub certain: bool,
    /// Why.
    pub why: Why,
}

/// Why a value does not fit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Why {
    /// Another type than the wanted one.
    Type(TyId, TyId),
    /// The field at the end of the path, which has this type, is missing.
    Missing(TyId),
    /// The field at the end of the path is not declared.
    Undeclared,
}

/// Maximum number of pairs of types that are compared, of misfits, and the depth of a path.
const MOST_PAIRS: usize = 2_000;
const MOST_MISFITS: usize = 20;
/// Maximum number of fields that are compared, all pairs together.
const MOST_FIELDS: usize = 20_000;
const DEEPEST: usize = 16;

impl Types {
    /// Returns where the values of `got` do not fit `wanted`. `strict`: they are arguments, so that fields that are not declared
    /// do not fit, and floats are no integers.
    pub fn misfits(&mut self, got: TyId, wanted: TyId, strict: bool) -> Vec<Misfit> {
        let (mut found, mut seen, mut fields_left) =
            (Vec::new(), HashSet::<_, ByNumber>::default(), MOST_FIELDS);
        let floats = strict;
        let mut open = vec![(got, wanted, Vec::new(), strict)];
        while let Some((got, wanted, path, strict)) = open.pop() {
            if found.len() >= MOST_MISFITS || seen.len() >= MOST_PAIRS || fields_left == 0 {
                break;
            }
            if got == wanted || path.len() > DEEPEST || !seen.insert((got, wanted)) {
                continue;
            }
            let mut misfit = |certain, why| {
                found.push(Misfit {
                    path: path.clone(),
                    certain,
                    why,
                })
            };
            let kinds = self.kinds(got).without(self.kinds(wanted));
            if got == TyId::UNKNOWN || wanted == TyId::UNKNOWN || got == TyId::NEVER {
                continue;
            }
            if !kinds.is_empty() {
                let certain = kinds == self.kinds(got);
                misfit(certain, Why::Type(wanted, got));
                if certain {
                    continue;
                }
            }
            if self.is_other(got, wanted) {
                misfit(true, Why::Type(wanted, got));
                continue;
            }
            if floats && self.wants_integers(wanted) && self.has_floats(got) {
                // What is no number may fit.
                let others = self.kinds(got).without(Kinds::NUMBER);
                let certain = self.is_only_float(got) && !others.meets(self.kinds(wanted));
                misfit(certain, Why::Type(wanted, got));
                if certain {
                    continue;
                }
            }
            let (lists, list) = (self.only(got, Kinds::LIST), self.only(wanted, Kinds::LIST));
            if lists != TyId::NEVER && list != TyId::NEVER {
                let (item, of) = (self.item(lists), self.item(list));
                let mut path = path.clone();
                path.push(None);
                open.push((item, of, path, false));
            }
            // Only one object against one object says where it does not fit.
            let objects = (self.one_object(got), self.one_object(wanted));
            let (Some((span, is_open)), Some((fields, wants_more))) = objects else {
                continue;
            };
            for field in self.fields(fields).to_vec() {
                let mut path = path.clone();
                path.push(Some(field.name));
                fields_left = fields_left.saturating_sub(1);
                if fields_left == 0 {
                    break;
                }
                let own = self.field_in(span, field.name).or_else(|| {
                    fields_left = fields_left.saturating_sub(span.count() / 4);
                    self.alike(span, field)
                });
                match own {
                    Some(own) => {
                        if own.optional && !field.optional {
                            found.push(Misfit {
                                path: path.clone(),
                                certain: false,
                                why: Why::Missing(field.ty),
                            });
                        }
                        let wanted = match field.optional {
                            true => self.or_null(field.ty),
                            false => field.ty,
                        };
                        open.push((own.ty, wanted, path, false));
                    }
                    None if is_open || field.optional => {}
                    None => found.push(Misfit {
                        path,
                        certain: true,
                        why: Why::Missing(field.ty),
                    }),
                }
            }
            if strict && !wants_more {
                for own in self.fields(span).to_vec() {
                    fields_left = fields_left.saturating_sub(1 + fields.count() / 4);
                    if fields_left == 0 {
                        break;
                    }
                    let is_declared = self.field_in(fields, own.name).is_some();
                    if !is_declared && self.alike(fields, own).is_none() {
                        let mut path = path.clone();
                        path.push(Some(own.name));
                        found.push(Misfit {
                            path,
                            certain: true,
                            why: Why::Undeclared,
                        });
                    }
                }
            }
        }
        found.truncate(MOST_MISFITS);
        found
    }

    /// Returns whether two types of one kind have no value in common, as far as types without parts say so.
    fn is_other(&self, got: TyId, wanted: TyId) -> bool {
        match (self.get(got), self.get(wanted)) {
            (Ty::FloatOf(bits), Ty::Int | Ty::Whole) => f64::from_bits(bits).fract() != 0.0,
            (Ty::TextOf(a), Ty::TextOf(b)) => a != b,
            (Ty::IntOf(a), Ty::IntOf(b)) => a != b,
            (Ty::BoolOf(a), Ty::BoolOf(b)) => a != b,
            (Ty::TextOf(_), Ty::Union(_)) => {
                self.is_other_literal(got, wanted, Kinds::TEXT, |ty| matches!(ty, Ty::TextOf(_)))
            }
            (Ty::IntOf(_), Ty::Union(_)) => {
                self.is_other_literal(got, wanted, Kinds::NUMBER, |ty| matches!(ty, Ty::IntOf(_)))
            }
            _ => false,
        }
    }

    /// Returns whether the numbers of a type are integers.
    fn wants_integers(&self, id: TyId) -> bool {
        let members = self.members(&id).iter().map(|it| self.get(*it));
        let mut numbers = members.filter(|ty| is_number(*ty)).peekable();
        numbers.peek().is_some() && numbers.all(|ty| matches!(ty, Ty::Int | Ty::IntOf(_)))
    }

    /// Returns whether some numbers of a type are floats.
    fn has_floats(&self, id: TyId) -> bool {
        let mut members = self.members(&id).iter();
        members.any(|it| matches!(self.get(*it), Ty::Float | Ty::FloatOf(_)))
    }

    /// Returns whether a type has numbers, and all of them are floats.
    pub fn is_only_float(&self, id: TyId) -> bool {
        let members = self.members(&id).iter().map(|it| self.get(*it));
        let mut numbers = members.filter(|ty| is_number(*ty)).peekable();
        numbers.peek().is_some() && numbers.all(|ty| matches!(ty, Ty::Float | Ty::FloatOf(_)))
    }

    /// Returns whether all members of a kind are literals, and none of them is this one.
    fn is_other_literal(&self, got: TyId, wanted: TyId, kind: Kinds, is: fn(Ty) -> bool) -> bool {
        let members = self.members(&wanted).iter();
        let mut same_kind = members.filter(|id| self.kinds(**id).meets(kind)).peekable();
        same_kind.peek().is_some() && same_kind.all(|id| is(self.get(*id)) && *id != got)
    }

    fn one_object(&self, id: TyId) -> Option<(super::ty::Span, bool)> {
        let mut found = None;
        for member in self.members(&id) {
            match (self.get(*member), found) {
                (Ty::Object(span, open), None) => found = Some((span, open)),
                (Ty::Object(..), Some(_)) => return None,
                _ => {}
            }
        }
        found
    }

    /// Returns the field whose name differs at most in hyphens and underscores.
    fn alike(&self, span: super::ty::Span, field: FieldTy) -> Option<FieldTy> {
        let name = self.names.get(field.name);
        if !name.iter().any(|byte| matches!(byte, b'-' | b'_')) {
            return None;
        }
        let fields = self.fields(span).iter();
        fields
            .copied()
            .find(|it| is_alike(self.names.get(it.name), name))
    }

    fn has_parts(&self, ty: TyId) -> bool {
        matches!(self.get(ty), Ty::List(_) | Ty::Object(..) | Ty::Union(_))
    }

    /// Notes that all fields inside a type are read.
    pub fn read_all(&self, ty: TyId, sources: &mut Sources) {
        let (mut open, mut seen) = (vec![ty], HashSet::<_, ByNumber>::default());
        while let Some(id) = open.pop() {
            if seen.len() >= MOST_PAIRS || !seen.insert(id) {
                continue;
            }
            match self.get(id) {
                Ty::List(item) => open.push(item),
                Ty::Union(_) => open.extend_from_slice(self.members(&id)),
                Ty::Object(span, _) => {
                    for field in self.fields(span) {
                        sources.read(field.from);
                        if self.has_parts(field.ty) {
                            open.push(field.ty);
                        }
                    }
                }
                _ => {}
            }
        }
    }
}

/// Returns whether a type that is no union may have numbers.
fn is_number(ty: Ty) -> bool {
    use Ty::*;
    matches!(
        ty,
        Unknown | Int | Number | Plain | Float | Whole | IntOf(_) | FloatOf(_)
    )
}

impl Subject {
    /// The value of a field of the operation.
    pub fn operand(name: &'static str) -> Self {
        Subject::Operand(name)
    }
}
