//! Values of one of several types in a stream: each type that the kind of the value allows is tried at the same time, until
//! all but one are refuted.

use super::ruled::is_number;
use super::{CheckFrame, Checker};
use ptc_type::{Json, Type, TypeId};

/// Maximum number of types that are tried. Of a larger union, the check of the whole answer decides.
const MOST: usize = 32;
/// Work that the rules may take in a trial, for each chunk.
const BUDGET: usize = 500;
/// Work to begin a trial.
const BEGIN: usize = 10;

/// The types that are tried.
#[derive(Debug)]
pub(super) struct Trials {
    live: Vec<Checker>,
    /// The number of brackets that are open in the value.
    depth: usize,
}

impl Trials {
    pub fn begin_chunk(&mut self) {
        for trial in &mut self.live {
            trial.budget = BUDGET;
        }
    }
}

impl Checker {
    /// Begins a value of one of several types.
    #[cold]
    pub(super) fn one_of(&mut self, json: Json, union: u32) {
        // Without work left, nothing is known of the value.
        let looked = self.answer_type.types().union(union).types.len();
        self.budget = self.budget.saturating_sub(looked);
        let likely = match self.budget {
            0 => Vec::new(),
            _ => self.likely(json, union),
        };
        let begun = match likely.len() {
            0 | 1 => 0,
            count => BEGIN * count,
        };
        if self.budget <= begun {
            self.budget = 0;
            return self.enter(json, CheckFrame::Free);
        }
        self.budget -= begun;
        match likely[..] {
            [] => {
                self.no_type(json);
                self.enter(json, CheckFrame::Free);
            }
            [only] => self.typed(json, only),
            _ if self.is_trial || likely.len() > MOST => self.enter(json, CheckFrame::Free),
            _ => {
                let trial = |id: &TypeId| {
                    let mut trial = Checker {
                        value_type: Some(*id),
                        whole: self.whole,
                        is_trial: true,
                        budget: BUDGET,
                        ..Checker::new(self.answer_type.clone())
                    };
                    trial.value(json);
                    trial
                };
                let live = likely.iter().map(trial).collect();
                let depth = usize::from(is_open(json));
                self.trials = Some(Box::new(Trials { live, depth }));
                self.settle();
            }
        }
    }

    /// Returns the types that a value of this kind may have; those of a union in the union, too. If they are too many, not
    /// all.
    fn likely(&self, json: Json, union: u32) -> Vec<TypeId> {
        let types = self.answer_type.types();
        let mut likely = Vec::new();
        let mut unions = vec![(union, 0)];
        while let Some((union, next)) = unions.last_mut() {
            let Some(id) = types.union(*union).types.get(*next).copied() else {
                unions.pop();
                continue;
            };
            *next += 1;
            match types.required(id) {
                (Type::OneOf(inner), optional) if !(optional && json == Json::Null) => {
                    unions.push((inner, 0));
                }
                _ if types.takes(id, json) => likely.push(id),
                _ => {}
            }
            if unions.len() > MOST {
                likely.resize(MOST + 1, id);
            }
            if likely.len() > MOST {
                break;
            }
        }
        likely
    }

    /// Passes an event to the trials; `json`: the kind of the value that begins with it.
    pub(super) fn tried(&mut self, json: Json, event: impl Fn(&mut Checker)) {
        let Some(trials) = &mut self.trials else {
            return;
        };
        trials.depth += usize::from(is_open(json));
        let Some(left) = self.budget.checked_sub(trials.live.len()) else {
            return self.end_trials();
        };
        self.budget = left;
        trials.live.iter_mut().for_each(event);
        self.settle();
    }

    /// Passes the end of a list or a map to the trials.
    pub(super) fn tried_end(&mut self) {
        if let Some(trials) = &mut self.trials {
            trials.depth -= 1;
        }
        self.tried(Json::Null, Checker::end);
        self.end_whole();
    }

    /// Passes the end of a value to the trials; returns whether it is a number that is the first error.
    pub(super) fn tried_value_end(&mut self, text: Option<&[u8]>) -> bool {
        let before = self.mistake.is_some();
        self.tried(Json::Null, |trial| {
            trial.number_end();
            trial.value_end(text);
        });
        self.end_whole();
        !before && self.mistake.is_some() && is_number(text)
    }

    /// Ends the trials if the value is whole.
    fn end_whole(&mut self) {
        if self.trials.as_ref().is_some_and(|trials| trials.depth == 0) {
            self.trials = None;
        }
    }

    /// Drops what is refuted. What remains alone of a value with parts is checked like any other value.
    fn settle(&mut self) {
        let Some(trials) = &mut self.trials else {
            return;
        };
        trials.live.retain(|trial| trial.mistake.is_none());
        match (&mut trials.live[..], trials.depth) {
            ([], _) => {
                // At the end of the value that is being read.
                self.no_type(Json::Null);
                self.end_trials();
            }
            ([only], 1..) => {
                let seen = self.seen.len();
                self.seen.append(&mut only.seen);
                let mut frames = std::mem::take(&mut only.frames);
                for frame in &mut frames {
                    if let CheckFrame::Map { seen: start, .. } = frame {
                        *start += seen;
                    }
                }
                (self.rest, self.ruled) = (only.rest, only.ruled);
                self.late = only.late.take();
                self.trials = None;
                self.frames.append(&mut frames);
            }
            _ => {}
        }
    }

    /// Leaves the rest of the value to the check of the whole answer.
    fn end_trials(&mut self) {
        if let Some(trials) = self.trials.take() {
            let free = || CheckFrame::Free;
            let frames = std::iter::repeat_with(free).take(trials.depth);
            self.frames.extend(frames);
        }
    }
}

fn is_open(json: Json) -> bool {
    matches!(json, Json::Object | Json::Array)
}
