//! Questions about the source of a compiled program, as jobs: a part by its path, and the path of a call.

use crate::source::KeptSource;
use crate::typing::locate::{follow, Followed};
use crate::typing::paths::{PartStep, Paths};
use ptc_json::{Document, Node, PartialValue, Replay, TermBuilder};
use ptc_term::heap::Heap;
use ptc_term::job::Job;
use ptc_term::meter::Meter;
use ptc_term::number::Number;
use ptc_term::rooted;
use ptc_term::stop::Stop;
use ptc_term::suspend::One;
use ptc_term::workspace::Workspace;
use std::mem::take;
use std::sync::Arc;

/// The part of a program that was given as a text, at the end of a path: a list of keys and indices.
#[derive(Debug)]
pub struct ProgramPart<T> {
    path: One<T>,
    begun: PartialValue<T>,
    state: PartState,
}

rooted!(ProgramPart { states: path, begun; plain: state });

#[derive(Debug)]
struct PartState {
    source: Arc<KeptSource>,
    at: Followed,
    replay: Option<Replay>,
}

impl<T: Copy> ProgramPart<T> {
    /// Begins at the root of the program.
    pub fn new(source: Arc<KeptSource>, path: T) -> Self {
        let at = Followed::begin(source.root);
        ProgramPart {
            path: One(path),
            begun: PartialValue::default(),
            state: PartState {
                source,
                at,
                replay: None,
            },
        }
    }
}

impl<H: Heap> Job<H> for ProgramPart<H::Term> {
    /// The part as a term; `None` if there is none.
    type Out = Option<H::Term>;

    fn step(&mut self, text: &[u8], heap: &mut H, meter: &mut Meter) -> Result<Self::Out, Stop> {
        let document = self.state.source.document(text);
        let node = loop {
            match self.state.at {
                Followed::Nowhere => return Ok(None),
                Followed::Found(node) => break node,
                Followed::Inside(..) => {
                    let (next, cost) = follow(&mut self.path, self.state.at, &document, heap);
                    self.state.at = next;
                    meter.consume_fuel(cost, heap)?;
                }
            }
        };
        let work = Workspace::new(heap, meter);
        let mut builder = TermBuilder::resume(work, take(&mut self.begun));
        let replay = &mut self.state.replay;
        let replay = replay.get_or_insert_with(|| Replay::new(&document, node));
        match replay.run(&document, &mut builder) {
            Ok(()) => Ok(Some(builder.finish())),
            Err(stop) => {
                self.begun = builder.into_partial();
                Err(stop)
            }
        }
    }
}

/// Number of parts of a program that are passed in one step, and of those that cost one unit of fuel.
const STRIDE: usize = 512;
const PARTS_A_UNIT: usize = 4;

/// The path of a call of a tool in its program.
#[derive(Debug)]
pub struct CallPath {
    source: Arc<KeptSource>,
    node: Option<Node>,
    paths: Paths,
}

impl CallPath {
    /// Begins with the call of this number, in the order of the code, from 0.
    pub fn new(source: Arc<KeptSource>, number: Option<usize>) -> Self {
        let node = number.and_then(|number| source.calls.get(number).copied());
        let paths = Paths::new(source.root);
        CallPath {
            source,
            node,
            paths,
        }
    }

    /// Continues. Returns the path, or nil if there is no such call. `constant` gives the constants of the program.
    pub fn step<H: Heap>(
        &mut self,
        text: &[u8],
        constant: impl Fn(usize) -> Option<H::Term>,
        heap: &mut H,
        meter: &mut Meter,
    ) -> Result<H::Term, Stop> {
        let Some(node) = self.node else {
            return Ok(heap.nil());
        };
        let document = self.source.document(text);
        while !self.paths.go_to(&document, node, STRIDE) {
            meter.consume_fuel(STRIDE / PARTS_A_UNIT, heap)?;
        }
        let mut path = Vec::new();
        for part in self.paths.path(&document, node) {
            path.push(match *part {
                PartStep::Index(index) => {
                    let number = heap.make_number(Number::Int(i64::from(index)));
                    number.unwrap_or_else(|| heap.nil())
                }
                PartStep::Key(key) => match self.source.constant_of(key) {
                    Some(id) => constant(id).unwrap_or_else(|| heap.nil()),
                    None => key_term(&document, key, heap, meter)?,
                },
            });
        }
        Ok(heap.make_list(&path))
    }
}

/// Returns a key of the table, built in one step.
fn key_term<H: Heap>(
    document: &Document,
    key: Node,
    heap: &mut H,
    meter: &mut Meter,
) -> Result<H::Term, Stop> {
    let mut builder = TermBuilder::new(Workspace::in_one_go(heap, meter));
    Replay::new(document, key).run(document, &mut builder)?;
    Ok(builder.finish())
}
