//! Texts of forms that threading has made, which stand nowhere in the source: `(->> (+ a 1) (fn [x]))` makes `(fn [x] (+ a 1))`.

use super::Analyzer;
use crate::read::{Form, FormId};

/// A part of a text that is still to be written.
enum Unwritten {
    Form(FormId),
    Space,
    Close,
}

impl Analyzer<'_> {
    /// Returns whether threading has made a form.
    pub(super) fn is_threaded(&self, form: FormId) -> bool {
        form >= self.read_forms
    }

    /// Writes a form. The text is empty if it names a value that has no name, or if too much has been written: functions in
    /// functions are written for each of them.
    pub(super) fn written(&mut self, form: FormId) -> String {
        let mut text = String::new();
        let mut parts = vec![Unwritten::Form(form)];
        while let Some(part) = parts.pop() {
            let form = match part {
                Unwritten::Space => {
                    text.push(' ');
                    continue;
                }
                Unwritten::Close => {
                    text.push(')');
                    continue;
                }
                Unwritten::Form(form) => form,
            };
            match self.forms.form(form) {
                Form::List(items) if self.is_threaded(form) => {
                    text.push('(');
                    parts.push(Unwritten::Close);
                    for (index, item) in self.forms.children(items).iter().enumerate().rev() {
                        parts.push(Unwritten::Form(*item));
                        if index > 0 {
                            parts.push(Unwritten::Space);
                        }
                    }
                }
                Form::Plain(name) => text.push_str(self.names.text(name)),
                Form::Bound(_) => return String::new(),
                _ => text.push_str(self.source_of(form)),
            }
            if text.len() > self.unwritten {
                self.unwritten = 0;
                return String::new();
            }
        }
        self.unwritten -= text.len();
        text
    }

    /// Returns the part of the source that a form is.
    pub(super) fn source_of(&self, form: FormId) -> &str {
        let span = self.forms.span(form);
        let part = span.start as usize..span.end as usize;
        self.source.get(part).unwrap_or_default()
    }
}
