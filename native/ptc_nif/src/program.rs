//! Programs before they run: out of text or terms, with their constants as terms.

use crate::heap::Beam;
use crate::raw::Raw;
use crate::source::TermSource;
use crate::{atoms, wire};
use ptc_core::compile::{compile, Compiled, Failure, Options};
use ptc_core::heap::Heap;
use ptc_core::json::{Document, Limits};
use ptc_core::meter::Pace;
use ptc_core::number::Number;
use ptc_core::program::{Const, Program};
use ptc_core::source::{Shape, Source};
use rustler::{Atom, Binary, Encoder, Env, Resource, ResourceArc, Term};
use std::sync::Arc;

/// A program and its constants, in one NIF call.
pub struct Loaded<'a> {
    pub program: Arc<Program>,
    pub consts: Vec<Raw<'a>>,
}

/// What a call answers instead of going on.
pub type Reply<'a> = Term<'a>;

/// How a program is to be read.
#[derive(Clone, Copy)]
pub struct Reading {
    /// Whether mistakes are reported before the run.
    pub strict: bool,
    /// How deep operations may nest; in a text, how deep brackets may.
    pub depth: u32,
}

/// How many parts of a program are looked at on a scheduler's own thread: about half a millisecond.
const PARTS_IN_A_SLICE: usize = 5_000;

/// How many parts of a program may be looked at in one go.
fn parts(pace: Pace) -> usize {
    match pace {
        Pace::Quantum => usize::MAX,
        Pace::Slice | Pace::Probe => PARTS_IN_A_SLICE,
    }
}

/// Charges the calling process for a text that was read: some 100 bytes a microsecond.
pub fn charge_for_text(env: Env, text: &[u8]) {
    let percent = (text.len() / 1000).min(100) as i32;
    if percent > 0 {
        rustler::schedule::consume_timeslice(env, percent);
    }
}

/// A program as text: `{"program": …}`. It is always checked.
pub fn from_text<'a>(
    heap: &mut Beam<'a>,
    text: &[u8],
    depth: u32,
    pace: Pace,
) -> Result<Loaded<'a>, Reply<'a>> {
    let env = heap.terms.env;
    let limits = Limits::depth(depth as usize);
    let refuse = |reason: Atom| (atoms::error(), (atoms::parse(), reason)).encode(env);
    charge_for_text(env, text);
    let document = Document::parse(text, limits).map_err(|error| wire::json_error(env, error))?;
    let root = match document.field(0, b"program") {
        None => return Err(refuse(atoms::program_missing())),
        Some(root) if document.shape(root) != Shape::Map => {
            return Err(refuse(atoms::program_not_map()))
        }
        Some(root) => root,
    };
    let reading = Reading {
        strict: true,
        depth,
    };
    let build = |heap: &mut Beam<'a>, node: u32| document.build(node, heap);
    load(heap, &document, root, reading, pace, build)
}

/// A program as terms: what stands under `"program"`.
pub fn from_node<'a>(
    heap: &mut Beam<'a>,
    node: Raw<'a>,
    reading: Reading,
    pace: Pace,
) -> Result<Loaded<'a>, Reply<'a>> {
    let source = TermSource::new(heap.terms, parts(pace));
    load(heap, &source, node, reading, pace, |_, node| node)
}

fn load<'a, S: Source>(
    heap: &mut Beam<'a>,
    source: &S,
    root: S::Node,
    reading: Reading,
    pace: Pace,
    mut build: impl FnMut(&mut Beam<'a>, S::Node) -> Raw<'a>,
) -> Result<Loaded<'a>, Reply<'a>> {
    let options = Options {
        strict: reading.strict,
        depth: reading.depth,
        parts: parts(pace),
    };
    let mut term = |value: Const<S::Node>| constant(heap, value, &mut build);
    match compile(source, root, options) {
        Ok(Compiled { program, consts }) => Ok(Loaded {
            program: Arc::new(program),
            consts: consts.into_iter().map(term).collect(),
        }),
        Err(Failure::Exhausted) => Err(atoms::busy().encode(heap.terms.env)),
        Err(Failure::Rejected(fault)) => {
            let fault = fault.map(&mut term);
            Err(wire::fault(heap, atoms::validation(), fault))
        }
    }
}

fn constant<'a, N>(
    heap: &mut Beam<'a>,
    value: Const<N>,
    build: &mut impl FnMut(&mut Beam<'a>, N) -> Raw<'a>,
) -> Raw<'a> {
    match value {
        Const::Nil => heap.nil(),
        Const::Int(value) => heap.make_number(Number::Int(value)).unwrap_or(heap.nil()),
        Const::EmptyMap => heap.make_map(&[], &[]),
        Const::Node(node) => build(heap, node),
    }
}

/// A compiled program between calls; its constants are kept beside it, as a tuple of terms.
pub struct Handle {
    pub program: Arc<Program>,
    /// How many constants there must be.
    pub consts: usize,
}

#[rustler::resource_impl]
impl Resource for Handle {}

/// `{:ok, handle, constants}`, or why not.
fn compiled<'a>(heap: &Beam<'a>, loaded: Result<Loaded<'a>, Reply<'a>>) -> Term<'a> {
    let env = heap.terms.env;
    match loaded {
        Ok(loaded) => {
            let handle = ResourceArc::new(Handle {
                program: loaded.program,
                consts: loaded.consts.len(),
            });
            let consts = heap.terms.make_tuple(&loaded.consts).term(env);
            (atoms::ok(), handle, consts).encode(env)
        }
        Err(instead) => instead,
    }
}

macro_rules! compile_nifs {
    ($text:ident, $node:ident, $schedule:literal, $pace:expr) => {
        /// Compiles a program's text.
        #[rustler::nif(schedule = $schedule)]
        fn $text<'a>(env: Env<'a>, text: Binary<'a>, depth: u32) -> Term<'a> {
            let _clock = crate::clock::start(stringify!($text));
            let mut heap = Beam::new(env, 0);
            let loaded = from_text(&mut heap, text.as_slice(), depth, $pace);
            compiled(&heap, loaded)
        }

        /// Compiles a program that is already parsed.
        #[rustler::nif(schedule = $schedule)]
        fn $node<'a>(env: Env<'a>, node: Term<'a>, depth: u32) -> Term<'a> {
            let _clock = crate::clock::start(stringify!($node));
            let mut heap = Beam::new(env, 0);
            let reading = Reading {
                strict: true,
                depth,
            };
            let loaded = from_node(&mut heap, node.into(), reading, $pace);
            compiled(&heap, loaded)
        }
    };
}

compile_nifs!(compile_text, compile_node, "Normal", Pace::Slice);
compile_nifs!(
    compile_text_dirty,
    compile_node_dirty,
    "DirtyCpu",
    Pace::Quantum
);
