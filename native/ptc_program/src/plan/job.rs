//! A plan as a job: the program is walked, and what is known is returned as a term.

use super::reply::PlanReply;
use super::value::ValueId;
use super::walk::PlanWalk;
use crate::edition::Edition;
use ptc_json::{Document, Node};
use ptc_term::heap::Heap;
use ptc_term::meter::Meter;
use ptc_term::rooted;
use ptc_term::stop::Stop;

/// Fuel for a step of the walk, and the words that cost one unit.
const FUEL_PER_STEP: usize = 6;
const WORDS_A_UNIT: usize = 8;

/// A plan of a program that was loaded.
#[derive(Debug)]
pub struct Planning<T> {
    reply: PlanReply<T>,
    state: PlanningState,
}

rooted!(Planning { states: reply; plain: state });

#[derive(Debug)]
struct PlanningState {
    walk: Box<PlanWalk>,
    has_begun: bool,
    result: Option<ValueId>,
}

impl<T: Copy> Planning<T> {
    /// Begins with the program whose root is `root`.
    pub fn new(root: Node, edition: Edition) -> Self {
        Planning {
            reply: PlanReply::default(),
            state: PlanningState {
                walk: Box::new(PlanWalk::new(root, edition)),
                has_begun: false,
                result: None,
            },
        }
    }

    /// Continues until the reply is made.
    pub fn step<H: Heap<Term = T>>(
        &mut self,
        document: &Document,
        heap: &mut H,
        meter: &mut Meter,
    ) -> Result<T, Stop> {
        let state = &mut self.state;
        if !state.has_begun {
            state.walk.begin(document);
            state.has_begun = true;
        }
        let result = loop {
            if let Some(result) = state.result {
                break result;
            }
            let before = state.walk.words();
            state.result = state.walk.step(document);
            let words = state.walk.words();
            let made = words.saturating_sub(before) / WORDS_A_UNIT + state.walk.take_work();
            meter.check_heap_limit(words, heap)?;
            meter.consume_fuel(FUEL_PER_STEP + made, heap)?;
        };
        self.reply.step(result, &mut state.walk, heap, meter)
    }
}
