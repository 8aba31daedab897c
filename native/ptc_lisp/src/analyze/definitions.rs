//! `def`, `defonce`, `defn`.

use super::meaning::Meaning;
use super::namespaces;
use super::problems::{parts, ARITY, FORM};
use super::special::Special;
use super::task::{Definition, Place, Task, NO_FORM};
use super::Analyzer;
use crate::ast::{Expr, Problem};
use crate::read::{Form, FormId, Items, SymbolId};

impl Analyzer<'_> {
    /// `(def n e)`, `(def n "doc" e)`
    pub(super) fn def(
        &mut self,
        special: Special,
        args: Items,
        at: FormId,
        place: Place,
    ) -> Result<(), Problem> {
        let word = special.name();
        let doc = match args.len {
            1 => return Err(self.arity("def_without_value", word, at)),
            2 => NO_FORM,
            3 if self.is_text(self.forms.child(args, 1)) => self.forms.child(args, 1),
            _ => return Err(self.arity("expected_def", word, at)),
        };
        let name = self.defined_name(word, self.forms.child(args, 0))?;
        let value = self.forms.child(args, args.len - 1);
        self.defs.begin(name);
        self.tasks.push(Task::EndDef(Definition {
            form: at,
            name,
            doc,
            once: special == Special::Defonce,
            counts: place.counts(),
        }));
        self.defined_as = Some((value, name));
        self.push(value, Place::OPERAND);
        Ok(())
    }

    /// `(defn n "doc"? [p…] body…)`
    pub(super) fn defn(&mut self, args: Items, at: FormId, place: Place) -> Result<(), Problem> {
        let has_doc = args.len > 2 && self.is_text(self.forms.child(args, 1));
        let behind = 1 + u32::from(has_doc);
        if args.len <= behind || (args.len == 2 && self.is_text(self.forms.child(args, 1))) {
            return Err(self.problem(ARITY, "expected_defn", Vec::new(), at));
        }
        let name = self.defined_name("defn", self.forms.child(args, 0))?;
        let params = self.forms.child(args, behind);
        match self.forms.form(params) {
            Form::Vector(_) => {}
            Form::List(_) => return Err(self.invalid("multi_arity", params)),
            _ => return Err(self.invalid("defn_params", params)),
        }
        self.defs.begin(name);
        self.tasks.push(Task::EndDef(Definition {
            form: at,
            name,
            doc: NO_FORM,
            once: false,
            counts: place.counts(),
        }));
        let doc = has_doc.then(|| self.forms.child(args, 1));
        let doc = doc.and_then(|doc| self.text(doc));
        self.begin_function(None, Some(name), params, args.skip(behind + 1), doc, at)
    }

    /// Returns the name that a definition binds.
    fn defined_name(&mut self, word: &str, form: FormId) -> Result<SymbolId, Problem> {
        let Form::Symbol(name) = self.forms.form(form) else {
            let parts = parts![word, self.shown(form)];
            return Err(self.problem(FORM, "def_symbol", parts, form));
        };
        match self.meaning(name) {
            Meaning::Qualified(slash) => {
                let (space, _) = self.halves(name, slash);
                let name = self.names.text(name);
                Err(match namespaces::exists(space) {
                    true => self.problem(FORM, "protected_def", parts![name, space], form),
                    false => self.problem(FORM, "qualified_def", parts![name], form),
                })
            }
            Meaning::Placeholder(_) => Err(self.stray_placeholder(name, form)),
            _ => Ok(name),
        }
    }

    /// Builds a definition of the last result.
    pub(super) fn end_definition(&mut self, definition: Definition) {
        let number = self.number(definition.name);
        self.defines(number);
        self.defs.end(definition.name, definition.counts);
        let (doc, value) = (self.text(definition.doc), self.one());
        if let (Some(doc), Expr::Fn(function)) = (&doc, &self.out.exprs[value as usize]) {
            self.out.functions[*function as usize].doc = Some(doc.clone());
        }
        let expr = Expr::Def {
            name: number,
            once: definition.once,
            doc,
            value,
        };
        self.result(expr, definition.form);
    }

    fn is_text(&self, form: FormId) -> bool {
        matches!(self.forms.form(form), Form::Text(_))
    }

    /// Returns the string that a form is.
    fn text(&self, form: FormId) -> Option<String> {
        if form == NO_FORM {
            return None;
        }
        match self.forms.form(form) {
            Form::Text(index) => Some(self.forms.texts[index as usize].to_string()),
            _ => None,
        }
    }
}
