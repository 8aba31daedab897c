//! The types that a check has read are kept by the thread: the next check that is given equal types, and uses the same names in the
//! same order, does not read them again.
//!
//! The check of one more program of an agent mostly is such a check. A comparison takes a third of the time of reading.

use super::given::{FieldsGiven, GivenTo};
use super::known::Want;
use super::record::{KeptTypes, KeptWant, RecordedTerms, TermRecord};
use super::terms::TypeTerms;
use super::walk::TypeWalk;
use ptc_json::Document;
use ptc_term::heap::Heap;
use std::cell::Cell;
use std::mem::discriminant;

/// Maximum number of names: they are compared in one step.
const MOST_NAMES: usize = 256;
/// Fuel for a name, and the pieces of terms that are compared for a unit of it.
const FUEL_PER_NAME: usize = 10;
const PIECES_A_UNIT: usize = 4;

/// The sizes of what was read: of types, fields, names and the data.
type ReadSizes = [usize; 4];

thread_local! {
    /// Those of the last check that has read types, and whether they cannot be kept.
    static LAST: Cell<(ReadSizes, bool)> = const { Cell::new(([0; 4], false)) };
}

/// Whether the types that were read are probably those of the check before, and can be kept: what is read once is not.
pub(super) fn is_like_last(walk: &TypeWalk) -> bool {
    let (types, sources) = (&walk.types, &walk.sources);
    let sizes = [
        types.count(),
        types.fields.len(),
        types.names.words(),
        sources.count(),
    ];
    let is_like = |last: &Cell<(ReadSizes, bool)>| match last.get() {
        (before, cannot) if before == sizes => !cannot,
        _ => {
            last.set((sizes, false));
            false
        }
    };
    LAST.try_with(is_like).unwrap_or_default()
}

impl<T: Copy> FieldsGiven<T> {
    /// Returns the fuel, if the walk has read what is given already. Then nothing more is read, and the terms of types are noted. If not, it
    /// forgets what it has read.
    pub fn are_kept<H: Heap<Term = T>>(
        &mut self,
        into: &mut GivenTo<T>,
        document: &Document,
        heap: &mut H,
    ) -> Option<usize> {
        if self.are_equal(into, document, heap) {
            let pieces = into.walk.kept.as_ref().map_or(0, |kept| kept.record.len());
            let fuel = FUEL_PER_NAME * self.wants().len() + pieces / PIECES_A_UNIT;
            self.end();
            return Some(fuel);
        }
        *into.terms = TypeTerms::default();
        into.walk.forget();
        self.open(into.walk, heap);
        None
    }

    fn are_equal<H: Heap<Term = T>>(
        &mut self,
        into: &mut GivenTo<T>,
        document: &Document,
        heap: &mut H,
    ) -> bool {
        let Some(kept) = &into.walk.kept else {
            return false;
        };
        let (scopes, wants) = (self.scopes(heap), self.wants());
        if (scopes, into.values, wants.len()) != (kept.scopes, kept.values, kept.wants.len()) {
            return false;
        }
        let names = &into.walk.types.names;
        let mut terms = RecordedTerms::new(&kept.record);
        let mut pairs = wants.iter().zip(&kept.wants);
        pairs.all(|(want, kept)| {
            let name = want.name(document);
            if discriminant(want) != kept.kind || name != names.get(kept.name) {
                return false;
            }
            match self.find(*want, name, heap) {
                Some(term) if kept.is_given => {
                    terms.is_next(term, heap, |ty, term| into.terms.given(ty, term))
                }
                given => given.is_none() && !kept.is_given,
            }
        })
    }

    /// Keeps the types that the walk has read, if they can be compared.
    pub fn keep<H: Heap<Term = T>>(
        &mut self,
        into: &mut GivenTo<T>,
        document: &Document,
        heap: &mut H,
    ) {
        into.walk.kept = self.record(into, document, heap).map(Box::new);
        if into.walk.kept.is_none() {
            let _ = LAST.try_with(|last| last.set((last.get().0, true)));
        }
        self.end();
    }

    fn record<H: Heap<Term = T>>(
        &self,
        into: &mut GivenTo<T>,
        document: &Document,
        heap: &mut H,
    ) -> Option<KeptTypes> {
        if !(1..=MOST_NAMES).contains(&self.wants().len()) {
            return None;
        }
        let (mut wants, mut record) = (Vec::new(), TermRecord::default());
        let types = into.terms.identities(heap);
        for want in self.wants() {
            let name = want.name(document);
            let given = self.find(*want, name, heap);
            match given {
                Some(term) if !record.add(term, |it| types.get(&it).copied(), heap) => return None,
                // All names are looked at where one is missing.
                None if !matches!(want, Want::Input) => return None,
                _ => {}
            }
            wants.push(KeptWant {
                kind: discriminant(want),
                name: into.walk.types.names.known(name)?,
                is_given: given.is_some(),
            });
        }
        let walk = &into.walk;
        Some(KeptTypes {
            scopes: self.scopes(heap),
            values: into.values,
            wants,
            record,
            types: walk.types.mark(),
            sources: walk.sources.count(),
            roots: walk.roots.len(),
        })
    }
}
