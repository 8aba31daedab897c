//! The interface for signatures, for plain values.

use crate::values::{Found, Rows, TimeStruct, Values, ABSENT};
use crate::{ErrorAtoms, Fields, Scalar, TypeAtoms, TypeId, Types};
use ptc_term::class::Classed;
use ptc_term::heap::Heap;
use ptc_term::names::{rank, KeyKind, Matching};
use ptc_term::plain::{PlainHeap, Term};

/// Larger maps are searched key by key, as on the BEAM.
const FLAT: usize = 32;

/// Returns how well a key matches a declared name.
fn rank_of(heap: &PlainHeap, declared: &[u8], key: Term, matching: Matching) -> Option<u8> {
    if let Some(name) = heap.atom_name(key) {
        return rank(declared, name.as_bytes(), KeyKind::Atom, matching);
    }
    if let Some(name) = heap.bytes(key) {
        return rank(declared, name, KeyKind::String, matching);
    }
    let name = heap.keyword_name(key)?;
    rank(declared, heap.bytes(name)?, KeyKind::Keyword, matching)
}

/// Makes a heap in which the atoms of types exist.
pub fn heap_of_types() -> PlainHeap {
    let mut heap = PlainHeap::new();
    for name in ["optional", "list", "closed_map"] {
        heap.atom(name);
    }
    for scalar in Scalar::ALL {
        heap.atom(scalar.name());
    }
    heap
}

impl Values for PlainHeap {
    type Rows = PlainRows;

    fn time_struct(&self, map: Term) -> Option<TimeStruct> {
        match self.module(map)? {
            "Elixir.DateTime" => Some(TimeStruct::DateTime),
            "Elixir.NaiveDateTime" | "Elixir.Date" | "Elixir.Time" => Some(TimeStruct::Other),
            _ => None,
        }
    }

    fn keyword_name(&self, term: Term) -> Option<Term> {
        let is_keyword = self.module(term) == Some("Elixir.PtcRunner.Lisp.Keyword");
        let is_name = |key: &Term| self.atom_name(*key) == Some("name");
        let entries = self.map(term).filter(|_| is_keyword)?;
        let (_, name) = entries.iter().find(|(key, _)| is_name(key))?;
        self.is_binary(*name).then_some(*name)
    }

    fn atom_is(&self, atom: Term, name: &[u8]) -> bool {
        self.atom_name(atom).map(str::as_bytes) == Some(name)
    }

    fn make_key(&mut self, kind: KeyKind, name: &[u8]) -> Option<Term> {
        match kind {
            KeyKind::Atom => self.existing_atom(name),
            KeyKind::String => Some(self.make_string(name)),
            KeyKind::Keyword => {
                let name = self.make_string(name);
                Some(self.structure("PtcRunner.Lisp.Keyword", &[("name", name)]))
            }
        }
    }

    fn type_atoms(&self) -> TypeAtoms<Term> {
        let named = |name: &str| self.existing_atom(name.as_bytes()).unwrap_or(self.nil());
        TypeAtoms {
            optional: named("optional"),
            list: named("list"),
            closed_map: named("closed_map"),
            scalars: Scalar::WORDS.map(|scalar| named(scalar.name())),
        }
    }

    fn error_atoms(&self) -> ErrorAtoms<Term> {
        let named = |name: &str| self.existing_atom(name.as_bytes()).unwrap_or(self.nil());
        ErrorAtoms {
            path: named("path"),
            message: named("message"),
            inspect: named("inspect"),
            kind: named("kind"),
            unexpected: named("unexpected"),
        }
    }

    fn with_value(&mut self, map: Term, key: Term, value: Term) -> Term {
        let (mut keys, mut values) = (vec![key], vec![value]);
        for (other, old) in self.entries(map) {
            keys.push(other);
            values.push(old);
        }
        self.make_map(&keys, &values)
    }
}

/// Has no cache: each map is searched again, and its keys are counted each time.
#[derive(Debug)]
pub struct PlainRows {
    matching: Matching,
    compared: usize,
}

impl Rows<PlainHeap> for PlainRows {
    /// The map, and whether it is flat.
    type Open = (Term, bool);

    fn new(_heap: &PlainHeap, _types: &Types, matching: Matching) -> Self {
        PlainRows {
            matching,
            compared: 0,
        }
    }

    fn open(
        &mut self,
        heap: &PlainHeap,
        _types: &Types,
        _id: TypeId,
        _fields: Fields,
        map: Term,
    ) -> Option<(Term, bool)> {
        let size = heap.map(map)?.len();
        Some((map, size <= FLAT))
    }

    fn take_fuel(&mut self) -> usize {
        std::mem::take(&mut self.compared)
    }

    fn is_struct(&self, heap: &PlainHeap, _id: TypeId, (map, _): (Term, bool)) -> bool {
        heap.module(map).is_some()
    }

    fn find(
        &mut self,
        heap: &PlainHeap,
        types: &Types,
        (map, _): (Term, bool),
        field: usize,
    ) -> Option<Found<Term>> {
        let declared = types.field(field).name;
        self.compared += heap.map_size(map).unwrap_or(0);
        let entries = heap.map(map)?.iter().enumerate();
        let fitting = entries.filter_map(|(slot, (key, value))| {
            let rank = rank_of(heap, declared, *key, self.matching)?;
            Some((rank, slot, *key, *value))
        });
        let (_, slot, key, value) = fitting.min_by_key(|(rank, ..)| *rank)?;
        let slot = u8::try_from(slot).unwrap_or(ABSENT);
        Some(Found { slot, key, value })
    }

    fn is_flat((_, is_flat): (Term, bool)) -> bool {
        is_flat
    }

    fn each_value(&self, heap: &PlainHeap, (map, _): (Term, bool), visit: impl FnMut(Term)) {
        let entries = heap.map(map).unwrap_or_default();
        entries.iter().map(|(_, value)| *value).for_each(visit);
    }

    fn undeclared(
        &mut self,
        heap: &PlainHeap,
        types: &Types,
        _id: TypeId,
        fields: Fields,
        (map, is_flat): (Term, bool),
    ) -> Vec<Term> {
        let found = fields
            .range()
            .filter_map(|field| self.find(heap, types, (map, is_flat), field));
        let found: Vec<Term> = found.map(|found| found.key).collect();
        let keys = heap
            .map(map)
            .unwrap_or_default()
            .iter()
            .map(|(key, _)| *key);
        keys.filter(|key| !found.contains(key)).collect()
    }

    fn remake(
        &mut self,
        heap: &mut PlainHeap,
        types: &Types,
        id: TypeId,
        fields: Fields,
        (map, open): (Term, (Term, bool)),
        changed: Option<&[Term]>,
    ) -> Term {
        let (keys, values): (Vec<Term>, Vec<Term>) = match (open.1, changed) {
            (true, changed) => {
                let undeclared = self.undeclared(heap, types, id, fields, open);
                let entries = heap.map(map).unwrap_or_default().iter().enumerate();
                let is_same = |changed: &[Term]| {
                    let mut entries = entries.clone();
                    entries.all(|(slot, (_, value))| changed[slot] == *value)
                };
                if undeclared.is_empty() && changed.is_none_or(is_same) {
                    return map;
                }
                let kept = entries.filter(|(_, (key, _))| !undeclared.contains(key));
                kept.map(|(slot, (key, value))| match changed {
                    Some(changed) => (*key, changed[slot]),
                    None => (*key, *value),
                })
                .unzip()
            }
            (false, changed) => {
                let outputs = changed.unwrap_or_default();
                let same = outputs.chunks_exact(3).all(|field| field[1] == field[2]);
                // The first of equal keys counts in `make_map`.
                let fields = outputs.chunks_exact(3).rev();
                let (keys, values): (Vec<Term>, Vec<Term>) =
                    fields.map(|field| (field[0], field[2])).unzip();
                let made = heap.make_map(&keys, &values);
                if same && heap.map_size(made) == heap.map_size(map) {
                    return map;
                }
                return made;
            }
        };
        heap.make_map(&keys, &values)
    }
}
