//! The end of a compilation: the code that all programs have, and labels become addresses.

use super::{calls, Compiled, Compiler, Label, Names};
use crate::ast::{FunctionId, Literal, LocalId};
use crate::code::{
    Instr, Lisp, Other, Own, Program, ASKING, ASK_BUILTIN, ASK_PRINT, EVALUATING, PRINTING,
};
use crate::consts::{Const, Word, FIRST_OWN};
use crate::exec::revive::key_of;
use crate::exec::scan::is_scan;
use crate::patience::{OutOfTime, Patience};
use ptc_kernels::Reading;
use ptc_vm::explain::Detail;
use ptc_vm::live::LiveAfterCalls;
use ptc_vm::program::{ConstId, Pc};
use ptc_vm::verify::verify;

impl<'a> Compiler<'a> {
    /// Emits what each program begins with: a jump to its start, and what calls built-ins that are values.
    pub(super) fn stubs(&mut self) {
        self.code.push(Instr::Jump(0));
        debug_assert_eq!(self.code.len() as Pc, ASKING);
        self.code.extend([
            Other::QuestionOfSlots.instr(),
            Instr::Ask(ASK_BUILTIN),
            Other::Answered.instr(),
            Instr::Return,
        ]);
        debug_assert_eq!(self.code.len() as Pc, EVALUATING);
        self.code.extend([Other::OfSlots.instr(), Instr::Return]);
        debug_assert_eq!(self.code.len() as Pc, PRINTING);
        self.code.extend([
            Other::PrintOfSlots.instr(),
            Instr::Ask(ASK_PRINT),
            Instr::Return,
        ]);
    }

    /// Adds the constant that says what a function is, see [`Own::Entry`]. The next one is its address: who reads an error has the
    /// constants, but not the instructions.
    pub(super) fn about(&mut self, function: FunctionId, captured: &[LocalId]) -> ConstId {
        let about = &self.source.functions[function as usize];
        let optional = |text: &Option<String>| match text {
            Some(text) => Const::text(text.clone()),
            None => Const::Literal(Literal::Nil),
        };
        let (start, end) = (about.source.start as usize, about.source.end as usize);
        let text = match &about.threaded {
            Some(text) => text.as_str(),
            None => self.texts.unit(about.unit).get(start..end).unwrap_or(""),
        };
        let params = about.printed.iter().map(Const::text).collect();
        let names = captured
            .iter()
            .map(|local| Const::text(self.name_of(*local)))
            .collect();
        let about = self.constants.add(Const::Marked(
            Word::Closure,
            vec![
                optional(&about.name),
                Const::List(params),
                optional(&about.doc),
                Const::text(text),
                Const::List(names),
            ],
        ));
        self.constants.add(Const::number(0));
        about
    }

    fn name_of(&self, local: LocalId) -> &'a str {
        &self.source.locals[local as usize].name
    }

    /// Resolves all labels. `main`: where the program begins; `end`: where its result is made.
    pub(super) fn finish(
        mut self,
        main: Label,
        end: Label,
        patience: &mut Patience,
    ) -> Result<Compiled, OutOfTime> {
        self.code_of_end(end);
        let start = self.code.len() as Pc;
        for (global, name) in self.global_names.clone().into_iter().enumerate() {
            patience.step()?;
            let name = name.to_owned();
            let id = self.constants.add(Const::text(name.clone()));
            self.constants.add(Const::ExistingAtom(name));
            self.code.push(
                Other::Remember {
                    global: global as u32,
                    name: id,
                }
                .instr(),
            );
        }
        let labels = std::mem::take(&mut self.labels);
        self.code.push(Instr::Jump(main));
        for instr in &mut self.code {
            patience.step()?;
            match instr {
                Instr::Jump(to) | Instr::JumpIf { to, .. } | Instr::JumpIfSome(to) => {
                    *to = labels[*to as usize]
                }
                Instr::Own(
                    Own::IfBound { to, .. }
                    | Own::Visit { to, .. }
                    | Own::Arithmetic { to, .. }
                    | Own::Other(
                        Other::NextItem { to, .. }
                        | Other::Guard(to)
                        | Other::TakeEndless(to)
                        | Other::Gather(to),
                    ),
                ) => *to = labels[*to as usize],
                Instr::Own(Own::Other(Other::Closure { entry, .. })) => {
                    *entry = labels[*entry as usize]
                }
                _ => {}
            }
        }
        for (at, instr) in self.code.iter().enumerate() {
            if let Instr::Own(Own::Entry { about, .. }) = instr {
                let address = (*about + 1 - FIRST_OWN) as usize;
                self.constants.all[address] = Const::number(at as i64);
            }
        }
        self.code[0] = Instr::Jump(start);
        for at in 0..self.code.len() {
            patience.step()?;
            if is_scan(&self.code, at as Pc) {
                if let Instr::Own(Own::Visit { slot, item, to }) = self.code[at] {
                    self.code[at] = Instr::Own(Own::Scan { slot, item, to });
                }
            }
        }
        let program = Program {
            live: LiveAfterCalls::of(&self.code),
            code: self.code,
            patterns: Vec::new(),
            slots: self.most_slots,
            globals: self.global_names.len() as u32,
            reads_input: false,
            now: None,
            multiplies: false,
            calls_tools: self.calls_tools,
            reading: Reading::default(),
            language: Lisp {
                end: labels[end as usize],
                has_workers: self.calls_tools || self.has_effects,
            },
            detail: match &self.observer {
                Some(_) => Detail::Forms,
                None => Detail::default(),
            },
            sites: self.observer.take().map_or(Vec::new(), |it| it.sites),
            branches: Vec::new(),
        };
        let functions = functions(self.source, self.texts, &self.entries, &self.free, &labels);
        let constants = self.constants.all;
        let entries: Vec<Pc> = self.entries.iter().map(|it| labels[*it as usize]).collect();
        let count = crate::consts::FIRST_OWN as usize + constants.len();
        let stubs = [ASKING, EVALUATING, PRINTING];
        let all: Vec<Pc> = entries.into_iter().chain(stubs).collect();
        debug_assert_eq!(verify(&program, &all, count), Ok(()));
        let text = |name: &u32| self.source.names[*name as usize].clone();
        Ok(Compiled {
            program,
            functions,
            constants,
            names: Names {
                unbound: self.source.unbound.iter().map(text).collect(),
                tools: self.source.tools.iter().map(text).collect(),
                globals: self
                    .global_names
                    .iter()
                    .map(|it| (*it).to_owned())
                    .collect(),
                builtins: self.builtins.iter().map(|it| (*it).to_owned()).collect(),
                symbols: self.source.symbols,
                data: calls::data(self.source),
                calls: calls::sites(self.source),
            },
        })
    }

    /// The code that makes the result of the program.
    fn code_of_end(&mut self, end: Label) {
        // As keywords: a name of the vocabulary is an atom in the memory.
        let keyword = |name: &&str| Const::Literal(Literal::Keyword((*name).to_owned()));
        let names = self.global_names.iter().map(keyword).collect();
        let names = self.constants.add(Const::Marked(Word::Name, names));
        self.place(end);
        self.code.push(Other::Finish { names }.instr());
        self.code.push(Instr::Done);
    }
}

/// The functions that were added, by their texts and the names that they have captured.
fn functions(
    source: &crate::ast::Analyzed,
    texts: &super::Texts,
    entries: &[Label],
    free: &[Vec<LocalId>],
    labels: &[Pc],
) -> Const {
    let mut all = Vec::new();
    for (function, added) in source.added.iter().zip(texts.added) {
        let names: Vec<_> = added
            .captured
            .iter()
            .map(|it| it.as_bytes().to_vec())
            .collect();
        let key = key_of(added.source.as_bytes(), &names);
        let entry = labels[entries[*function as usize] as usize];
        let mut parts = vec![Const::number(i64::from(entry))];
        for local in &free[*function as usize] {
            parts.push(Const::text(source.locals[*local as usize].name.clone()));
        }
        if let Ok(key) = String::from_utf8(key) {
            all.push((key, Const::List(parts)));
        }
    }
    Const::Map(all)
}
