//! A check as a job: the program is loaded and checked, the types it needs are read, then it is walked, and what was found is
//! returned as a term. A plan begins in the same way.

use super::given::{FieldsGiven, GivenTo, GivenTypes};
use super::infer::{Budget, Sampling};
use super::reply::Reply;
use super::spare;
use super::ty::TyId;
use super::walk::{TypeStep, TypeWalk};
use crate::load::{LoadOptions, Loader, Refusal, Uses};
use crate::plan::job::Planning;
use ptc_json::{Document, Entry, Node, Table};
use ptc_term::heap::Heap;
use ptc_term::job::Job;
use ptc_term::meter::Meter;
use ptc_term::rooted;
use ptc_term::roots::Roots;
use ptc_term::stop::Stop;
use ptc_term::suspend::One;
use ptc_vm::explain::Detail;
use std::mem::take;

#[derive(Debug, Clone, Copy)]
enum CheckStage {
    Load,
    /// The constants from this place on that the table does not contain.
    Constants(Node),
    Read,
    Walk,
    Reply,
}

/// The plain data of a check.
#[derive(Debug)]
struct CheckState {
    stage: CheckStage,
    options: LoadOptions,
    /// The bytes of the text.
    length: usize,
    /// Whether the program is loaded a second time, to find the place of its mistake.
    again: bool,
    table: Table,
    uses: Uses,
    walk: Option<Box<TypeWalk>>,
    result: TyId,
}

/// A check of a program.
pub struct Check<T> {
    /// The program, if it is a term.
    program: CheckedSource<T>,
    loader: Option<Loader<T>>,
    given: FieldsGiven<T>,
    constant: Option<Sampling<T>>,
    entries: Roots<T>,
    reply: Reply<T>,
    /// The plan, if that is wanted in the place of the types.
    plan: Option<Planning<T>>,
    state: CheckState,
}

rooted!(Check { states: program, loader, given, constant, entries, reply, plan; plain: state });

type CheckedSource<T> = Option<One<T>>;

/// How much is read of a constant that the program's table does not contain.
const CONSTANT: Budget = Budget {
    rows: 100,
    values: 500,
    literals: true,
};
/// Maximum number of such constants.
const MOST_CONSTANTS: usize = 100;
/// Number of entries that are passed for one unit of fuel while such constants are looked for.
const ENTRIES_A_UNIT: usize = 4;
/// Fuel for a step of the walk.
const FUEL_PER_STEP: usize = 6;

impl<T: Copy> Check<T> {
    /// Checks a text of this many bytes: `{"program": …}`.
    pub fn of_text(length: usize, options: LoadOptions, given: GivenTypes<T>) -> Self {
        Check::new(None, length, options, given)
    }

    /// Checks a term: the program itself.
    pub fn of_term(program: T, options: LoadOptions, given: GivenTypes<T>) -> Self {
        Check::new(Some(One(program)), 0, options, given)
    }

    fn new(
        program: CheckedSource<T>,
        length: usize,
        options: LoadOptions,
        given: GivenTypes<T>,
    ) -> Self {
        let mut check = Check {
            program,
            loader: None,
            given: FieldsGiven::new(given),
            constant: None,
            entries: Roots::default(),
            reply: Reply::default(),
            plan: None,
            state: CheckState {
                stage: CheckStage::Load,
                options,
                length,
                again: false,
                table: Table::default(),
                uses: Uses::default(),
                walk: None,
                result: TyId::UNKNOWN,
            },
        };
        check.load();
        check
    }

    /// Begins to load the program. What is needed for the place of a mistake is only made once there is one.
    fn load(&mut self) {
        let mut options = self.state.options;
        if !self.state.again {
            options.observed = None;
        }
        let loader = match &self.program {
            Some(program) => Loader::of_term(program.0, options),
            None => Loader::of_text(self.state.length, options),
        };
        self.loader = Some(loader.only_checked());
    }

    /// Returns whether the text is needed.
    pub fn needs_text(&self) -> bool {
        self.program.is_none()
    }

    /// Begins the check of types, or the plan.
    fn begin<H: Heap<Term = T>>(&mut self, root: Node, heap: &H) {
        if self.state.options.observed == Some(Detail::Plan) {
            self.plan = Some(Planning::new(root, self.state.options.options.edition));
            return;
        }
        let mut walk = spare::walk(root, self.state.options.options.edition);
        walk.values = self.state.options.options.values;
        if self.state.options.observed == Some(Detail::All) {
            walk.noted = Some(Vec::new());
        }
        self.given.begin(&self.state.uses, &mut walk, heap);
        self.state.walk = Some(walk);
        self.state.stage = match self.entries.is_empty() {
            true => CheckStage::Read,
            false => CheckStage::Constants(0),
        };
    }

    /// Continues with the stage; returns the reply when it is made.
    fn go_on<H: Heap<Term = T>>(
        &mut self,
        (document, text): (&Document, &[u8]),
        heap: &mut H,
        meter: &mut Meter,
    ) -> Result<Option<T>, Stop> {
        if let Some(plan) = &mut self.plan {
            return plan.step(document, heap, meter).map(Some);
        }
        let Some(walk) = self.state.walk.as_deref_mut() else {
            return Err(Stop::Abandoned);
        };
        self.state.stage = match self.state.stage {
            CheckStage::Load => return Err(Stop::Abandoned),
            CheckStage::Constants(node) => {
                let mut constants = Constants {
                    entries: &self.entries,
                    current: &mut self.constant,
                    place: node,
                };
                let read = constants.read(walk, document, heap, meter);
                self.state.stage = CheckStage::Constants(constants.place);
                read?;
                CheckStage::Read
            }
            CheckStage::Read => {
                let mut into = GivenTo {
                    walk,
                    terms: &mut self.reply.types,
                    values: self.state.options.options.values,
                };
                self.given.read(&mut into, document, heap, meter)?;
                walk.begin(document);
                CheckStage::Walk
            }
            CheckStage::Walk => {
                self.state.result = walked(walk, document, heap, meter)?;
                CheckStage::Reply
            }
            CheckStage::Reply => {
                let (reply, result) = (&mut self.reply, self.state.result);
                return reply
                    .step(result, walk, (document, text), heap, meter)
                    .map(Some);
            }
        };
        Ok(None)
    }
}

/// The constants that the program's table does not contain.
struct Constants<'c, T> {
    entries: &'c Roots<T>,
    current: &'c mut Option<Sampling<T>>,
    place: Node,
}

impl<T: Copy> Constants<'_, T> {
    fn read<H: Heap<Term = T>>(
        &mut self,
        walk: &mut TypeWalk,
        document: &Document,
        heap: &H,
        meter: &mut Meter,
    ) -> Result<(), Stop> {
        let count = self.entries.len() as u32;
        loop {
            if let Some(sampling) = self.current {
                let ty = sampling.step(&mut walk.types, heap, meter)?;
                *self.current = None;
                walk.known.outside.insert(self.place, ty);
                self.place += 1;
            }
            let end = count.min(self.place + 512);
            let before = self.place;
            let is_outside = |node: &Node| matches!(document.entry(*node), Entry::Term(_));
            let next = (before..end).find(is_outside);
            self.place = next.unwrap_or(end);
            if self.place == count || walk.known.outside.len() >= MOST_CONSTANTS {
                return Ok(());
            }
            if next.is_some() {
                let term = self.entries.get(heap, self.place as usize);
                *self.current = Some(Sampling::new(term, CONSTANT, heap));
            }
            meter.consume_fuel((self.place - before) as usize / ENTRIES_A_UNIT, heap)?;
        }
    }
}

fn walked<H: Heap>(
    walk: &mut TypeWalk,
    document: &Document,
    heap: &H,
    meter: &mut Meter,
) -> Result<TyId, Stop> {
    let mut before = walk.words();
    loop {
        if let TypeStep::Done(ty) = walk.step(document) {
            return Ok(walk.returned(ty));
        }
        // The work of a step is what it makes: it is counted afterwards, when the walk can be suspended.
        let words = walk.words();
        let made = words.saturating_sub(before) / 8;
        before = words;
        meter.check_heap_limit(words, heap)?;
        meter.consume_fuel(FUEL_PER_STEP + made, heap)?;
    }
}

impl<H: Heap> Job<H> for Check<H::Term> {
    /// `{type, reads, tools, findings}`, or why it is no program.
    type Out = Result<H::Term, Refusal<H::Term>>;

    fn step(&mut self, text: &[u8], heap: &mut H, meter: &mut Meter) -> Result<Self::Out, Stop> {
        while let Some(loader) = &mut self.loader {
            match loader.step(text, heap, meter)? {
                Err(Refusal::Rejected(_, None))
                    if !matches!(self.state.options.observed, None | Some(Detail::Plan))
                        && !self.state.again =>
                {
                    self.state.again = true;
                    self.load();
                    // What its error is made of was made in one go; from here on the work can be suspended.
                    meter.advanced();
                }
                Err(refusal) => return Ok(Err(refusal)),
                Ok(()) => {
                    let loaded = self.loader.take().and_then(Loader::into_table);
                    let Some((table, root, uses, entries)) = loaded else {
                        return Err(Stop::Abandoned);
                    };
                    (self.state.table, self.state.uses) = (table, uses);
                    self.entries = entries;
                    self.begin(root, heap);
                }
            }
        }
        loop {
            let document = Document::new(text, take(&mut self.state.table));
            let done = self.go_on((&document, text), heap, meter);
            self.state.table = document.into_table();
            if let Some(reply) = done? {
                if let Some(walk) = self.state.walk.take() {
                    spare::keep(walk);
                }
                return Ok(Ok(reply));
            }
        }
    }
}
