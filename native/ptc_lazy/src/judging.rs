//! Whether a JSON text is of a type, without building its values.
//!
//! The text is indexed, and the walk of types goes over the values of the text. It ends at the first error: what an error says is
//! found on the decoded text.

use crate::source::{fits, Source, FUEL_OF_STEP, STEP};
use crate::term::Term;
use crate::wrapper::{Given, Lazy};
use ptc_index::{Index, Indexer};
use ptc_term::heap::Heap;
use ptc_term::meter::{Limits, Meter, Pace};
use ptc_term::rooted;
use ptc_term::stop::Stop;
use ptc_term::suspend::{freeze, thaw, One};
use ptc_type::{
    read, Check, QuantumClock, Read, ReadOptions, Rules, State, TypeId, Types, Values, Walk,
    WalkEnd,
};
use std::mem::{replace, take};
use std::time::Instant;

/// The keys of a map with any keys are sorted in one go. Where a type has such maps, a text is not judged in which the members of the
/// largest object times the bytes of the longest token are more.
const MOST_SORTED: usize = 1 << 19;
/// See [`Given::marker`]. No tuple of a type has it.
const MARKER: i64 = 0x02b5_c91d_47e3_af06;

/// A text that is being judged.
#[derive(Debug)]
pub struct Judging<T> {
    /// The text.
    pub text: T,
    /// The type.
    of: T,
    /// The terms of the state.
    rest: Vec<One<T>>,
    plain: Box<Plain>,
}

rooted!(Judging { terms: text, of; states: rest; plain: plain });

/// What is not a term.
#[derive(Debug)]
struct Plain {
    rules: Rules,
    indexing: Option<Indexer>,
    index: Option<Index>,
    types: Option<(Types, TypeId)>,
    state: Option<State<(), Check<()>, usize>>,
    /// See [`Given::stored`].
    stored: bool,
    needs_quantum: bool,
}

impl<T: Copy> Judging<T> {
    /// Begins to judge a text as a value of the type `of`, by these rules.
    pub fn new((text, of): (T, T), rules: Rules) -> Self {
        Judging {
            text,
            of,
            rest: Vec::new(),
            plain: Box::new(Plain {
                rules,
                indexing: None,
                index: None,
                types: None,
                state: None,
                stored: false,
                needs_quantum: false,
            }),
        }
    }

    /// Returns whether a slice is not enough for the next step.
    pub fn needs_quantum(&self) -> bool {
        self.plain.needs_quantum
    }

    /// Continues; `text` are the bytes of the text. Returns whether the text is JSON, can be read in place, and is a value of the type;
    /// and the heap.
    pub fn step<H: Values<Term = T>>(
        &mut self,
        text: &[u8],
        heap: H,
        meter: &mut Meter,
    ) -> (Result<bool, Stop>, H) {
        let begun = (meter.pace() == Pace::Quantum).then(Instant::now);
        let (index, types, rules) = match self.prepare(text, &heap, meter) {
            Ok(Some(prepared)) => prepared,
            Ok(None) => return (Ok(false), heap),
            Err(stop) => return (Err(stop), heap),
        };
        let given = Given {
            texts: vec![Source::new(text, &index)],
            marker: MARKER,
            stored: self.plain.stored,
            words: 0,
        };
        let mut lazy = Lazy::new(heap, given);
        let judged = self.walk(&mut lazy, (&types.0, types.1), rules, begun, meter);
        self.plain.stored = lazy.has_stored();
        let heap = lazy.into_inner();
        self.plain.index = Some(index);
        // A walk that begins again reads its rules again.
        self.plain.types = self.plain.state.is_some().then_some(types);
        (judged, heap)
    }

    /// Indexes the text and reads the type. Also returns the keyword lists of the types' rules, if the walk begins. `None`: the text
    /// cannot be judged.
    #[allow(clippy::type_complexity)]
    fn prepare<H: Values<Term = T>>(
        &mut self,
        text: &[u8],
        heap: &H,
        meter: &mut Meter,
    ) -> Result<Option<(Index, (Types, TypeId), Vec<T>)>, Stop> {
        if !self.plain.index(text, heap, meter)? {
            return Ok(None);
        }
        let (types, rules) = match self.plain.types.take() {
            Some(types) => (types, Vec::new()),
            None => {
                let mut whole = Meter::whole(Limits::UNLIMITED, meter.pace());
                let read = read(heap, self.of, ReadOptions::VALUES, &mut whole);
                let Ok((Read { types, rules, .. }, id)) = read else {
                    return Err(self.plain.again(meter.pace()));
                };
                ((types, id), rules)
            }
        };
        let largest = self.plain.index.as_ref().map(Index::largest);
        let keys = largest.map_or(0, |largest| largest.members.saturating_mul(largest.token));
        if types.0.has_maps_of() && keys > MOST_SORTED {
            return Ok(None);
        }
        match self.plain.index.take() {
            Some(index) if index.length() == text.len() => Ok(Some((index, types, rules))),
            _ => Err(Stop::Abandoned),
        }
    }

    /// Walks over the value of the text.
    fn walk<H: Values<Term = T>>(
        &mut self,
        lazy: &mut Lazy<H>,
        (types, id): (&Types, TypeId),
        rules: Vec<T>,
        begun: Option<Instant>,
        meter: &mut Meter,
    ) -> Result<bool, Stop> {
        let pace = meter.pace();
        let rest: Vec<_> = take(&mut self.rest)
            .iter()
            .map(|One(term)| lazy.wrap(*term))
            .collect();
        let state = match self.plain.state.take() {
            Some(state) => thaw(state, lazy, &mut rest.into_iter()).ok_or(Stop::Abandoned)?,
            None => State::new((lazy.root(0), id), Check::by(self.plain.rules))
                .first_error_only()
                .ruled(rules.into_iter().map(Term::Real).collect()),
        };
        let own = replace(meter, Meter::new(meter.limits, pace));
        let clock = QuantumClock::new(pace, begun, state.fuel());
        let mut walk = Walk::new(lazy, types, state, (own, pace));
        let end = clock.run(&mut walk);
        let (state, lazy, own) = walk.into_state();
        *meter = own;
        match end {
            Ok(()) => Ok(true),
            Err(WalkEnd::SliceOver) => {
                let mut out = Vec::new();
                self.plain.state = Some(freeze(state, lazy, &mut out));
                self.rest = out.into_iter().map(|term| One(lazy.pack(term))).collect();
                Err(Stop::SliceOver)
            }
            Err(WalkEnd::TooLong) => Err(self.plain.again(pace)),
            Err(WalkEnd::Abandoned) => Err(Stop::Abandoned),
            Err(_) => Ok(false),
        }
    }
}

impl Plain {
    /// What takes too long for a slice begins again in a quantum.
    fn again(&mut self, pace: Pace) -> Stop {
        if pace == Pace::Quantum {
            return Stop::Abandoned;
        }
        self.needs_quantum = true;
        Stop::SliceOver
    }

    /// Indexes the text. Returns false if it is not JSON, or cannot be read in place.
    fn index<H: Heap>(&mut self, text: &[u8], heap: &H, meter: &mut Meter) -> Result<bool, Stop> {
        while self.index.is_none() {
            let indexer = match self.indexing.take() {
                Some(indexer) => indexer,
                None => match Indexer::new(text.len(), usize::MAX) {
                    Some(indexer) => indexer,
                    None => return Ok(false),
                },
            };
            let indexer = self.indexing.insert(indexer);
            match indexer.step(text, STEP) {
                Ok(None) => meter.consume_fuel(FUEL_OF_STEP, heap)?,
                Ok(Some(index)) if fits(&index) => {
                    (self.indexing, self.index) = (None, Some(index));
                }
                Ok(Some(_)) | Err(_) => return Ok(false),
            }
        }
        Ok(true)
    }
}
