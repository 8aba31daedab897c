//! Unions, and what is read of a type that may be one.

use super::ty::{FieldTy, Kinds, Ty, TyId, Types};
use crate::analysis::names::NameId;

/// Maximum number of members of a union.
const MOST_MEMBERS: usize = 24;

impl Types {
    /// Returns the type of the values that have one of two types.
    pub fn union(&mut self, a: TyId, b: TyId) -> TyId {
        if a == b || b == TyId::NEVER || a == TyId::UNKNOWN {
            return a;
        }
        if a == TyId::NEVER || b == TyId::UNKNOWN {
            return b;
        }
        if a == TyId::NO_INPUT || b == TyId::NO_INPUT {
            return TyId::UNKNOWN;
        }
        if self.absorbs(a, b) {
            return a;
        }
        let mut all = Vec::with_capacity(8);
        all.extend_from_slice(self.members(&a));
        all.extend_from_slice(self.members(&b));
        self.reduced(all)
    }

    /// Returns whether a type has another one as a member, or is wider than it.
    fn absorbs(&self, a: TyId, b: TyId) -> bool {
        self.members(&a)
            .iter()
            .any(|it| *it == b || self.is_wider(*it, b))
    }

    /// Returns whether a type without parts has all values of another one.
    fn is_wider(&self, a: TyId, b: TyId) -> bool {
        match self.get(a) {
            Ty::Number => self.get(b) != Ty::Number && self.kinds(b) == Kinds::NUMBER,
            Ty::Plain => matches!(
                self.get(b),
                Ty::Int | Ty::Float | Ty::Whole | Ty::IntOf(_) | Ty::FloatOf(_)
            ),
            Ty::Float => matches!(self.get(b), Ty::FloatOf(_)),
            Ty::Whole => matches!(self.get(b), Ty::Int | Ty::IntOf(_)),
            Ty::Int => matches!(self.get(b), Ty::IntOf(_)),
            Ty::Text => matches!(self.get(b), Ty::TextOf(_)),
            Ty::Bool => matches!(self.get(b), Ty::BoolOf(_)),
            Ty::List(item) => item == TyId::UNKNOWN && matches!(self.get(b), Ty::List(_)),
            Ty::Object(span, true) => span.count() == 0 && matches!(self.get(b), Ty::Object(..)),
            _ => false,
        }
    }

    /// Returns the union of types that are no unions.
    fn reduced(&mut self, mut all: Vec<TyId>) -> TyId {
        all.sort_unstable();
        all.dedup();
        if all.contains(&TyId::UNKNOWN) {
            return TyId::UNKNOWN;
        }
        if all.contains(&TyId::TRUE) && all.contains(&TyId::FALSE) {
            all.push(TyId::BOOL);
        }
        let is_integer = |it: &TyId| matches!(self.get(*it), Ty::Int | Ty::IntOf(_));
        if all.contains(&TyId::FLOAT) && all.iter().any(is_integer) {
            all.push(TyId::PLAIN);
        }
        let wide: Vec<TyId> = all.iter().copied().filter(|it| self.is_wide(*it)).collect();
        all.retain(|it| {
            *it != TyId::NEVER && !wide.iter().any(|by| by != it && self.is_wider(*by, *it))
        });
        if all.len() > MOST_MEMBERS {
            all = self.fewer(&all);
        }
        all.sort_unstable();
        all.dedup();
        self.union_of(&all)
    }

    fn is_wide(&self, id: TyId) -> bool {
        match self.get(id) {
            Ty::Number | Ty::Plain | Ty::Float | Ty::Whole | Ty::Int => true,
            Ty::Text | Ty::Bool => true,
            Ty::List(item) => item == TyId::UNKNOWN,
            Ty::Object(span, open) => open && span.count() == 0,
            _ => false,
        }
    }

    /// Returns fewer types, with at least the same values: one for each kind.
    fn fewer(&mut self, all: &[TyId]) -> Vec<TyId> {
        let (mut fewer, mut objects, mut number) = (Vec::new(), Vec::new(), TyId::NEVER);
        for id in all {
            match self.get(*id) {
                Ty::Object(span, open) => objects.push((span, open)),
                _ if self.kinds(*id) == Kinds::NUMBER && !matches!(self.get(*id), Ty::Union(_)) => {
                    number = self.union(number, self.wide(*id));
                }
                _ => fewer.push(self.wide(*id)),
            }
        }
        if number != TyId::NEVER {
            fewer.push(number);
        }
        if !objects.is_empty() {
            fewer.push(self.merged(&objects));
        }
        fewer
    }

    /// Returns the type of all values of the same kind.
    pub fn wide(&self, id: TyId) -> TyId {
        match self.get(id) {
            Ty::IntOf(_) => TyId::INT,
            Ty::FloatOf(_) | Ty::Float => TyId::PLAIN,
            Ty::TextOf(_) => TyId::TEXT,
            Ty::BoolOf(_) => TyId::BOOL,
            Ty::List(_) => TyId::LIST,
            Ty::Object(..) => TyId::OBJECT,
            Ty::Union(_) => TyId::UNKNOWN,
            _ => id,
        }
    }

    /// Returns one object type for several: a field that is not in all of them is optional.
    fn merged(&mut self, objects: &[(super::ty::Span, bool)]) -> TyId {
        let open = objects.iter().any(|(_, open)| *open);
        let mut fields: Vec<FieldTy> = Vec::new();
        for (span, _) in objects {
            fields.extend_from_slice(self.fields(*span));
        }
        fields.sort_by_key(|field| field.name);
        let mut merged: Vec<FieldTy> = Vec::new();
        let mut count = 0;
        for field in fields {
            match merged.last_mut() {
                Some(last) if last.name == field.name => {
                    count += 1;
                    last.optional |= field.optional;
                    if last.from != field.from {
                        last.from = 0;
                    }
                    if last.ty != field.ty {
                        last.ty = self.flat_union(last.ty, field.ty);
                    }
                }
                _ => {
                    if let Some(last) = merged.last_mut() {
                        last.optional |= count < objects.len();
                    }
                    merged.push(field);
                    count = 1;
                }
            }
        }
        if let Some(last) = merged.last_mut() {
            last.optional |= count < objects.len();
        }
        self.object(&mut merged, open)
    }

    /// Returns a union of at most one type for each kind, without a look into parts.
    fn flat_union(&mut self, a: TyId, b: TyId) -> TyId {
        if a == TyId::UNKNOWN || b == TyId::UNKNOWN {
            return TyId::UNKNOWN;
        }
        let mut all: Vec<TyId> = self.members(&a).to_vec();
        all.extend_from_slice(self.members(&b));
        let mut wide: Vec<TyId> = all.iter().map(|it| self.wide(*it)).collect();
        wide.sort_unstable();
        wide.dedup();
        if wide.contains(&TyId::NUMBER) {
            wide.retain(|it| !matches!(*it, TyId::INT | TyId::PLAIN));
        }
        if wide.contains(&TyId::PLAIN) {
            wide.retain(|it| *it != TyId::INT);
        }
        match wide.contains(&TyId::UNKNOWN) {
            true => TyId::UNKNOWN,
            false => self.union_of(&wide),
        }
    }

    /// Returns the type of the values of a type that are of one of these kinds.
    pub fn only(&mut self, id: TyId, kinds: Kinds) -> TyId {
        let own = self.kinds(id);
        if own.within(kinds) {
            return id;
        }
        if !own.meets(kinds) {
            return TyId::NEVER;
        }
        match self.get(id) {
            Ty::Unknown => match kinds {
                Kinds::NULL => TyId::NULL,
                Kinds::BOOL => TyId::BOOL,
                Kinds::NUMBER => TyId::NUMBER,
                Kinds::TEXT => TyId::TEXT,
                Kinds::LIST => TyId::LIST,
                Kinds::OBJECT => TyId::OBJECT,
                _ => TyId::UNKNOWN,
            },
            Ty::Union(_) => {
                let members = self.members(&id).to_vec();
                let kept: Vec<TyId> = members
                    .into_iter()
                    .filter(|it| self.kinds(*it).meets(kinds))
                    .collect();
                self.union_of(&kept)
            }
            _ => id,
        }
    }

    /// Returns the type without `null`.
    pub fn not_null(&mut self, id: TyId) -> TyId {
        self.only(id, Kinds::ALL.without(Kinds::NULL))
    }

    /// Returns the type with `null`.
    pub fn or_null(&mut self, id: TyId) -> TyId {
        let at = id.0 as usize;
        match self.nullable.get(at) {
            None => self.union(id, TyId::NULL),
            Some(known) if *known != TyId::NEVER => *known,
            Some(_) => {
                self.nullable[at] = self.union(id, TyId::NULL);
                self.nullable[at]
            }
        }
    }

    /// Returns the type of the items of the lists of a type.
    pub fn item(&mut self, id: TyId) -> TyId {
        match self.get(id) {
            Ty::List(item) => item,
            Ty::Unknown | Ty::NoInput => TyId::UNKNOWN,
            Ty::Union(_) => {
                let members = self.members(&id).to_vec();
                let mut item = TyId::NEVER;
                for member in members {
                    if let Ty::List(of) = self.get(member) {
                        item = self.union(item, of);
                    }
                }
                item
            }
            _ => TyId::NEVER,
        }
    }

    /// Returns what is read of the objects of a type at a key.
    pub fn at(&mut self, id: TyId, name: NameId) -> Read {
        let mut read = Read {
            ty: TyId::NEVER,
            found: false,
            missing: false,
            from: 0,
        };
        match self.get(id) {
            Ty::Union(_) => {
                for member in self.members(&id).to_vec() {
                    let next = self.at_member(member, name);
                    read.ty = self.union(read.ty, next.ty);
                    read.found |= next.found;
                    read.missing |= next.missing;
                    read.from = read.from.max(next.from);
                }
                read
            }
            _ => self.at_member(id, name),
        }
    }

    fn at_member(&mut self, id: TyId, name: NameId) -> Read {
        let read = |ty, found, missing, from| Read {
            ty,
            found,
            missing,
            from,
        };
        match self.get(id) {
            Ty::Object(span, open) => match (self.field_in(span, name), open) {
                (Some(field), _) if field.optional => {
                    read(self.or_null(field.ty), true, false, field.from)
                }
                (Some(field), _) => read(field.ty, true, false, field.from),
                (None, true) => read(TyId::UNKNOWN, true, false, 0),
                (None, false) => read(TyId::NULL, false, true, 0),
            },
            Ty::Unknown | Ty::NoInput | Ty::Moment | Ty::Keyword => {
                read(TyId::UNKNOWN, true, false, 0)
            }
            _ => read(TyId::NEVER, false, false, 0),
        }
    }

    /// Returns the type as far as the field of its objects has one of these kinds.
    pub fn narrowed(&mut self, id: TyId, name: NameId, kinds: Kinds) -> TyId {
        let read = self.at(id, name);
        if self.kinds(read.ty).within(kinds) || kinds == Kinds::NULL {
            return id;
        }
        let mut all = TyId::NEVER;
        for member in self.members(&id).to_vec() {
            let ty = match self.get(member) {
                Ty::Object(span, open) => match self.field_in(span, name) {
                    Some(field) => {
                        let ty = self.only(field.ty, kinds);
                        let optional = field.optional && kinds.meets(Kinds::NULL);
                        match ty == TyId::NEVER && !optional {
                            true => TyId::NEVER,
                            false => {
                                let narrow = FieldTy {
                                    ty,
                                    optional,
                                    ..field
                                };
                                let mut fields = self.fields(span).to_vec();
                                if let Some(it) = fields.iter_mut().find(|it| it.name == name) {
                                    *it = narrow;
                                }
                                self.object(&mut fields, open)
                            }
                        }
                    }
                    None if open || kinds.meets(Kinds::NULL) => member,
                    None => TyId::NEVER,
                },
                _ => member,
            };
            all = self.union(all, ty);
        }
        all
    }

    /// Returns the type with another type at a key of its objects.
    pub fn with(&mut self, id: TyId, field: FieldTy) -> TyId {
        self.each_object(id, |types, fields, open| {
            match fields.iter_mut().find(|it| it.name == field.name) {
                Some(old) => *old = field,
                None => fields.push(field),
            }
            types.object(fields, open)
        })
    }

    /// Returns the type with each of its objects changed. Of what is unknown, only that it is an object remains.
    pub fn each_object(
        &mut self,
        id: TyId,
        mut change: impl FnMut(&mut Types, &mut Vec<FieldTy>, bool) -> TyId,
    ) -> TyId {
        let mut all = TyId::NEVER;
        for member in self.members(&id).to_vec() {
            let changed = match self.get(member) {
                Ty::Object(span, open) => {
                    let mut fields = self.fields(span).to_vec();
                    change(self, &mut fields, open)
                }
                Ty::Unknown | Ty::NoInput | Ty::Moment | Ty::Keyword => {
                    change(self, &mut Vec::new(), true)
                }
                _ => member,
            };
            all = self.union(all, changed);
        }
        all
    }
}

/// What is read of the objects of a type at a key.
#[derive(Debug, Clone, Copy)]
pub struct Read {
    /// The type of what is read: null included where the field may be missing.
    pub ty: TyId,
    /// Whether one of the objects may have the field.
    pub found: bool,
    /// Whether one of the objects cannot have it.
    pub missing: bool,
    /// Where in the data it comes from.
    pub from: u32,
}
