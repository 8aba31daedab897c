//! The fields of objects.

use super::{Open, ReadStep, Target, TypeReader, TypeWord, BYTES_A_UNIT, FUEL, LONGEST_NAME};
use crate::typing::ty::{FieldTy, Ty, TyId};
use ptc_term::heap::Heap;

/// Maximum number of fields that are read in one step.
const FIELDS: usize = 32;

impl<T: Copy> TypeReader<T> {
    /// Reads fields whose types are words that were read before, also optional ones: most fields. Returns the list of the others.
    #[inline]
    pub(super) fn words<H: Heap<Term = T>>(
        &mut self,
        mut rest: T,
        first: usize,
        from: u32,
        into: &mut Target<T>,
        heap: &H,
    ) -> T {
        let state = &mut self.state;
        let room = super::MOST_FIELDS.saturating_sub(state.fields.len() - first);
        let before = state.read;
        for _ in 0..room.min(FIELDS) {
            let Some((field, others)) = heap.uncons(rest) else {
                break;
            };
            let Some(&[name, holds]) = heap.elements(field) else {
                break;
            };
            let (mut word, mut optional) = (state.words.known(holds, heap), false);
            if word.is_none() {
                if let Some(&[tag, inner]) = heap.elements(holds) {
                    optional = state.words.known(tag, heap) == Some((TypeWord::Optional, true));
                    word = state.words.known(inner, heap).filter(|_| optional);
                }
            }
            let (Some((TypeWord::Ty(ty), usual)), Some(name)) = (word, heap.bytes(name)) else {
                break;
            };
            if name.len() > LONGEST_NAME {
                break;
            }
            state.fuel += FUEL + name.len() / BYTES_A_UNIT;
            state.read += 1;
            state.odd += usize::from(!usual);
            let ty = match optional {
                true => into.types.or_null(ty),
                false => ty,
            };
            let name = into.types.names.id(name);
            let from = match &mut into.sources {
                Some(sources) => sources.add(from, name),
                None => 0,
            };
            state.fields.push(FieldTy {
                name,
                ty,
                optional,
                from,
            });
            rest = others;
        }
        if state.read > before {
            self.set_rest(rest);
        }
        rest
    }

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
