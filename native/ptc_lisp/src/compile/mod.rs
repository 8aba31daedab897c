//! The compiler: from expressions to instructions and constants.
//!
//! It does not recurse over expressions: what is still to be done is a stack of [`Task`]s. Jumps name labels until the end, when
//! these become addresses.

mod arithmetic;
mod bind;
mod branches;
mod calls;
mod constants;
mod expr;
mod finish;
mod free;
mod growing;
mod inlined;
mod invoke;
mod loops;
mod observer;
mod places;
mod spans;
mod task;
mod values;

pub use calls::ToolSite;
pub use free::children;
pub use spans::place;

use crate::ast::{Analyzed, FunctionId, LocalId, NameId, Problem, Span};
use crate::code::{Instr, Program};
use crate::consts::Const;
use crate::patience::{OutOfTime, Patience};
use constants::Constants;
use observer::FormObserver;
use places::{IdSet, LocalPlaces, NameMeaning};
use ptc_vm::program::{Pc, Slot};
use task::CompileTask;

/// A compiled program.
#[derive(Debug)]
pub struct Compiled {
    /// The instructions.
    pub program: Program,
    /// The functions that were added, see [`crate::consts::FUNCTIONS`].
    pub functions: Const,
    /// The constants behind the fixed ones.
    pub constants: Vec<Const>,
    /// What is known of its names.
    pub names: Names,
}

/// The names of a program.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Names {
    /// The names that must be in the memory.
    pub unbound: Vec<String>,
    /// The tools that it names.
    pub tools: Vec<String>,
    /// The names of the user namespace that it mentions or defines.
    pub globals: Vec<String>,
    /// The built-ins that it mentions, and that a name of the memory would shadow.
    pub builtins: Vec<String>,
    /// Number of unique symbols and keywords.
    pub symbols: usize,
    /// The data that it reads, and its functions of the memory read.
    pub data: Vec<String>,
    /// The places that call tools, those of functions of the memory included.
    pub calls: Vec<ToolSite>,
}

/// A source that was analyzed: the text of the program, and those of the added functions.
pub struct Texts<'a> {
    /// The program.
    pub program: &'a str,
    /// The added functions, each with the names of what it has captured.
    pub added: &'a [crate::analyze::Added<'a>],
}

impl Texts<'_> {
    fn unit(&self, unit: u32) -> &str {
        match unit {
            0 => self.program,
            unit => self.added.get(unit as usize - 1).map_or("", |it| it.source),
        }
    }
}

/// A label: an index into the addresses of labels.
type Label = u32;

/// Where a local is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LocalPlace {
    Slot(Slot),
    /// The captured value of this number.
    Captured(u32),
    /// The slots of the base of a value that grows, and of what was added to it.
    Growing(Slot, Slot),
}

/// What `recur` jumps to.
#[derive(Debug, Clone)]
struct Target {
    head: Label,
    places: Vec<LocalPlace>,
}

/// The function that is being compiled; the program itself is one, too.
#[derive(Debug, Default)]
struct Current {
    next_slot: Slot,
    most_slots: Slot,
    /// The slot of the function itself.
    own: Slot,
    targets: Vec<Target>,
}

/// The compiler.
struct Compiler<'a> {
    source: &'a Analyzed,
    texts: &'a Texts<'a>,
    /// What the names mean.
    meanings: Vec<NameMeaning>,
    code: Vec<Instr>,
    labels: Vec<Pc>,
    constants: Constants,
    global_names: Vec<&'a str>,
    builtins: Vec<&'a str>,
    /// The locals to which a jump, or a function that `reduce` calls, adds something.
    growing: IdSet,
    /// The functions whose bodies stand where they are used.
    inlined: IdSet,
    /// What each function captures.
    free: Vec<Vec<LocalId>>,
    entries: Vec<Label>,
    current: Current,
    /// Where its locals are.
    places: LocalPlaces,
    most_slots: Slot,
    tasks: Vec<CompileTask<'a>>,
    calls_tools: bool,
    /// Whether a function binds a name or ends the program, or the program prints.
    has_effects: bool,
    /// Whether a function is being compiled.
    in_function: bool,
    /// The forms, if the program is observed.
    observer: Option<Box<FormObserver>>,
}

/// Compiles a program. `shadowed`: names of built-ins that the memory has.
pub fn compile(source: &Analyzed, texts: &Texts, shadowed: &[String]) -> Result<Compiled, Problem> {
    compile_until(
        source,
        texts,
        shadowed,
        (false, &mut Patience::new(&mut || false)),
    )
}

/// Compiles a program for observation, see [`ptc_vm::explain`].
pub fn compile_observed(
    source: &Analyzed,
    texts: &Texts,
    shadowed: &[String],
) -> Result<Compiled, Problem> {
    compile_until(
        source,
        texts,
        shadowed,
        (true, &mut Patience::new(&mut || false)),
    )
}

/// Compiles a program, maybe for observation, as long as it may go on.
pub fn compile_until(
    source: &Analyzed,
    texts: &Texts,
    shadowed: &[String],
    (is_observed, patience): (bool, &mut Patience),
) -> Result<Compiled, Problem> {
    let observer = is_observed.then(|| FormObserver::new(true, None));
    let (compiler, main, end) = compiled(source, texts, shadowed, observer, patience)?;
    Ok(compiler.finish(main, end, patience)?)
}

/// Compiles everything but the end. Also returns where the program begins, and where its result is made.
fn compiled<'a>(
    source: &'a Analyzed,
    texts: &'a Texts<'a>,
    shadowed: &[String],
    observer: Option<Box<FormObserver>>,
    patience: &mut Patience,
) -> Result<(Compiler<'a>, Label, Label), Problem> {
    let mut compiler = Compiler {
        source,
        texts,
        meanings: places::meanings(source, shadowed),
        code: Vec::with_capacity(24 + 2 * source.exprs.len()),
        labels: Vec::with_capacity(16),
        constants: Constants::default(),
        global_names: Vec::new(),
        builtins: Vec::new(),
        growing: IdSet::of(source.locals.len()),
        inlined: IdSet::of(source.functions.len()),
        free: free::free(source, patience)?,
        entries: Vec::new(),
        current: Current::default(),
        places: LocalPlaces::of(source.locals.len()),
        most_slots: 1,
        tasks: Vec::with_capacity(32),
        calls_tools: false,
        has_effects: false,
        in_function: false,
        observer,
    };
    for _ in &source.functions {
        let label = compiler.label();
        compiler.entries.push(label);
    }
    compiler.find_growing(patience)?;
    compiler.stubs();
    let (main, end) = (compiler.label(), compiler.label());
    compiler.main(main, end, patience)?;
    compiler.in_function = true;
    for function in 0..source.functions.len() {
        if !compiler.inlined.contains(function as FunctionId) {
            compiler.function(function as FunctionId, patience)?;
        }
    }
    Ok((compiler, main, end))
}

impl<'a> Compiler<'a> {
    /// Makes a label.
    fn label(&mut self) -> Label {
        self.labels.push(0);
        self.labels.len() as Label - 1
    }

    /// Lets a label stand at the next instruction.
    fn place(&mut self, label: Label) {
        self.labels[label as usize] = self.code.len() as Pc;
    }

    /// Takes a new slot, until the scope around it ends.
    fn slot(&mut self) -> Slot {
        let slot = self.current.next_slot;
        self.current.next_slot += 1;
        self.current.most_slots = self.current.most_slots.max(slot + 1);
        slot
    }

    /// Returns the number of a name of the user namespace.
    fn global(&mut self, name: NameId) -> u32 {
        let meaning = &mut self.meanings[name as usize];
        *meaning.global.get_or_insert_with(|| {
            self.global_names.push(places::text(self.source, name));
            self.global_names.len() as u32 - 1
        })
    }

    /// Compiles the program itself.
    fn main(&mut self, main: Label, end: Label, patience: &mut Patience) -> Result<(), OutOfTime> {
        self.places.begin();
        self.current = Current {
            // The first slot is that of the value a run starts with.
            next_slot: 1,
            most_slots: 1,
            ..Current::default()
        };
        self.place(main);
        match self.source.root {
            Some(root) => self.run(root, patience)?,
            None => self.code.push(Instr::Nil),
        }
        // The functions stand between, because they may bring further names.
        self.code.push(Instr::Jump(end));
        Ok(())
    }

    /// Compiles an expression with all its parts.
    fn run(&mut self, root: u32, patience: &mut Patience) -> Result<(), OutOfTime> {
        self.tasks.push(CompileTask::Expr(root));
        while let Some(task) = self.tasks.pop() {
            patience.step()?;
            self.task(task);
        }
        self.most_slots = self.most_slots.max(self.current.most_slots);
        Ok(())
    }

    /// The error of a program whose functions have more parts than an instruction can name.
    fn too_large(&self, at: Span) -> Problem {
        Problem {
            reason: "invalid_form",
            code: "function_too_large",
            parts: Vec::new(),
            at,
        }
    }
}
