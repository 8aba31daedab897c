//! The fields of objects.

use super::{Open, ReadStep, Target, TypeReader, BYTES_A_UNIT, LONGEST_NAME};
use crate::typing::ty::{FieldTy, Ty, TyId};
use ptc_term::heap::Heap;

impl<T: Copy> TypeReader<T> {
    /// Reads a field of the object that is open.
    pub(super) fn field<H: Heap<Term = T>>(
        &mut self,
        field: T,
        first: usize,
        from: u32,
        into: &mut Target<T>,
        heap: &H,
    ) -> ReadStep<T> {
        let name = match heap.elements(field) {
            Some(&[name, holds]) => heap.bytes(name).map(|name| (name, holds)),
            _ => None,
        };
        let Some((name, holds)) = name else {
            self.state.fields.truncate(first);
            self.close();
            return self.odd(TyId::UNKNOWN);
        };
        if name.len() > LONGEST_NAME {
            self.state.odd += 1;
            if let Some(Open::Object { open, .. }) = self.state.open.last_mut() {
                *open = true;
            }
            return ReadStep::Next;
        }
        self.state.fuel += name.len() / BYTES_A_UNIT;
        self.state.read += 1;
        let name = into.types.names.id(name);
        let from = match &mut into.sources {
            Some(sources) => sources.add(from, name),
            None => 0,
        };
        self.state.from = from;
        self.state.fields.push(FieldTy {
            name,
            ty: TyId::UNKNOWN,
            optional: false,
            from,
        });
        ReadStep::Read(holds)
    }

    pub(super) fn end_object(&mut self, too_many: bool, into: &mut Target<T>) -> ReadStep<T> {
        let Some((
            Open::Object {
                first,
                open,
                whole,
                odd,
                ..
            },
            Some(term),
        )) = self.close()
        else {
            return ReadStep::Complete(TyId::UNKNOWN);
        };
        if too_many {
            self.state.fields.truncate(first);
            return self.odd(TyId::OBJECT);
        }
        let count = self.state.fields.len() - first;
        let id = into.types.object_since(&mut self.state.fields, first, open);
        self.state.fields.truncate(first);
        let is_all = matches!(into.types.get(id), Ty::Object(span, _) if span.count() == count);
        if !is_all || count == 0 {
            self.state.odd += 1;
        } else if whole && self.state.odd == odd {
            into.terms.given(id, term);
        }
        ReadStep::Complete(id)
    }
}
