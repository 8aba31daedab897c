//! The reader: from text to forms with positions.
//!
//! It goes through the text once and does not recurse. What is nested deeper than [`DEEPEST`] is an error, so that what reads
//! forms may.

mod blame;
mod classes;
mod form;
mod names;
mod refused;
mod token;

pub use form::{Form, FormId, Forms, Items, Node};
pub use names::{hash, seed, NameTable, SymbolId};

use crate::ast::{Problem, Span};
use crate::patience::{OutOfTime, Patience};
use blame::{Bracket, Wrong};
use classes::{is, FIRST, FURTHER, SPACE};

/// How deep brackets may be nested.
pub const DEEPEST: usize = 64;

/// Reads a text: its forms are added to `forms`, its names to `names`. Returns the forms at its top.
pub fn read<'t>(
    source: &'t str,
    forms: &mut Forms<'t>,
    names: &mut NameTable<'t>,
    patience: &mut Patience,
) -> Result<Vec<FormId>, Problem> {
    refused::check(source)?;
    let mut reader = Reader {
        source,
        bytes: source.as_bytes(),
        at: 0,
        open: Vec::new(),
        waiting: Vec::new(),
        forms,
        names,
    };
    match reader.all(patience)? {
        Ok(()) => Ok(reader.waiting),
        Err(wrong) => Err(blame::problem(source, &wrong)),
    }
}

/// A bracket that is open.
struct OpenBracket {
    kind: Bracket,
    /// Where it stands.
    start: usize,
    /// The number of forms that waited when it was opened.
    waiting: usize,
}

struct Reader<'t, 'r> {
    source: &'t str,
    bytes: &'t [u8],
    at: usize,
    open: Vec<OpenBracket>,
    /// Forms whose bracket is open, and those at the top.
    waiting: Vec<FormId>,
    forms: &'r mut Forms<'t>,
    names: &'r mut NameTable<'t>,
}

impl<'t> Reader<'t, '_> {
    fn all(&mut self, patience: &mut Patience) -> Result<Result<(), Wrong>, OutOfTime> {
        loop {
            patience.step()?;
            self.skip_space();
            let Some(&byte) = self.bytes.get(self.at) else {
                return Ok(match self.open.last() {
                    None => Ok(()),
                    Some(open) => Err(Wrong::unclosed(open.kind, self.at)),
                });
            };
            if let Err(wrong) = self.next(byte) {
                return Ok(Err(wrong));
            }
        }
    }

    /// Reads what begins with this byte.
    #[inline]
    fn next(&mut self, byte: u8) -> Result<(), Wrong> {
        match byte {
            b'(' => self.begin(Bracket::List, 1),
            b'[' => self.begin(Bracket::Vector, 1),
            b'{' => self.begin(Bracket::Map, 1),
            b')' | b']' | b'}' => self.close(byte),
            b'#' => self.hash(),
            _ => self.atom(byte),
        }
    }

    #[inline]
    fn skip_space(&mut self) {
        while let Some(&byte) = self.bytes.get(self.at) {
            if is(byte, SPACE) {
                self.at += 1;
            } else if byte == b';' {
                let rest = &self.bytes[self.at..];
                let line = rest.iter().position(|byte| *byte == b'\n');
                self.at += line.unwrap_or(rest.len());
            } else {
                return;
            }
        }
    }

    fn begin(&mut self, kind: Bracket, length: usize) -> Result<(), Wrong> {
        if self.open.len() == DEEPEST {
            return Err(Wrong::at("too_deep", self.at));
        }
        self.open.push(OpenBracket {
            kind,
            start: self.at,
            waiting: self.waiting.len(),
        });
        self.at += length;
        Ok(())
    }

    fn close(&mut self, byte: u8) -> Result<(), Wrong> {
        let Some(open) = self.open.last() else {
            // Between the forms at the top it is ignored.
            self.at += 1;
            return Ok(());
        };
        if byte != open.kind.closing() {
            return Err(Wrong::unclosed(open.kind, self.at));
        }
        let (kind, start) = (open.kind, open.start);
        let first = open.waiting;
        self.at += 1;
        let items = self.forms.keep(self.waiting.drain(first..));
        self.open.pop();
        let form = match kind {
            Bracket::List => Form::List(items),
            Bracket::Vector => Form::Vector(items),
            Bracket::Map if items.len % 2 == 1 => {
                return Err(Wrong::odd_map(items.len, start, self.at));
            }
            Bracket::Map => Form::Map(items),
            Bracket::Set => Form::Set(items),
            Bracket::Short => Form::Short(items),
        };
        self.put(form, start);
        Ok(())
    }

    /// Reads what begins with `#`.
    fn hash(&mut self) -> Result<(), Wrong> {
        match self.bytes.get(self.at + 1) {
            Some(b'(') => self.begin(Bracket::Short, 2),
            Some(b'{') => self.begin(Bracket::Set, 2),
            Some(b'"') => {
                let start = self.at;
                let text = self.text(start + 1)?;
                self.put(Form::Regex(text), start);
                Ok(())
            }
            Some(b'\'') => {
                let start = self.at;
                let end = token::symbol_end(self.bytes, start + 2);
                if end == start + 2 {
                    return Err(Wrong::at("no_var", start));
                }
                let name = self.names.intern(&self.source[start + 2..end]);
                self.at = end;
                self.put(Form::Symbol(name), start);
                Ok(())
            }
            Some(b'#') => self.special_number(),
            _ => Err(Wrong::at("no_form", self.at)),
        }
    }

    fn special_number(&mut self) -> Result<(), Wrong> {
        let start = self.at;
        let rest = &self.source[start + 2..];
        let known = [
            ("Inf", Form::Infinity),
            ("-Inf", Form::NegativeInfinity),
            ("NaN", Form::NaN),
        ];
        let found = known.into_iter().find(|(name, _)| rest.starts_with(name));
        let Some((name, form)) = found else {
            return Err(Wrong::at("no_form", start));
        };
        let end = start + 2 + name.len();
        if self.bytes.get(end).is_some_and(|byte| is(*byte, FURTHER)) {
            return Err(Wrong::at("no_form", start));
        }
        self.at = end;
        self.put(form, start);
        Ok(())
    }

    #[inline]
    fn atom(&mut self, byte: u8) -> Result<(), Wrong> {
        let start = self.at;
        let form = match byte {
            b'"' => Form::Text(self.text(start)?),
            b':' => {
                let end = classes::end(self.bytes, start + 1, classes::KEYWORD);
                if end == start + 1 {
                    return Err(Wrong::at("no_keyword", start));
                }
                self.at = end;
                Form::Keyword(self.names.intern(&self.source[start + 1..end]))
            }
            b'\\' => self.character()?,
            b'\'' => {
                let end = token::symbol_end(self.bytes, start + 1);
                if end == start + 1 {
                    return Err(Wrong::at("no_quoted", start));
                }
                self.at = end;
                Form::Quoted(self.names.intern(&self.source[start + 1..end]))
            }
            b'0'..=b'9' => self.number()?,
            b'-' if token::is_digit(self.bytes, start + 1) => self.number()?,
            _ if is(byte, FIRST) => self.symbol(),
            _ => return Err(Wrong::at("no_form", start)),
        };
        self.put(form, start);
        Ok(())
    }

    #[inline]
    fn symbol(&mut self) -> Form {
        let start = self.at;
        let end = classes::end(self.bytes, start + 1, FURTHER);
        self.at = end;
        match &self.source[start..end] {
            "nil" => Form::Nil,
            "true" => Form::Bool(true),
            "false" => Form::Bool(false),
            "*1" => Form::History(1),
            "*2" => Form::History(2),
            "*3" => Form::History(3),
            name => Form::Symbol(self.names.intern(name)),
        }
    }

    fn number(&mut self) -> Result<Form, Wrong> {
        let (form, end) = token::number(self.source, self.at)?;
        self.at = end;
        Ok(match form {
            token::Number::Int(int) => Form::Int(int),
            token::Number::Float(float) => Form::Float(float),
            token::Number::Large(large) => {
                self.forms.large.push(large);
                Form::Large(self.forms.large.len() as u32 - 1)
            }
        })
    }

    fn character(&mut self) -> Result<Form, Wrong> {
        let (text, end) = token::character(self.source, self.at)?;
        self.at = end;
        self.forms.texts.push(text.into());
        Ok(Form::Text(self.forms.texts.len() as u32 - 1))
    }

    /// Reads a string whose quote is at `start`.
    fn text(&mut self, start: usize) -> Result<u32, Wrong> {
        let (text, end) = token::text(self.source, start + 1)?;
        self.at = end;
        self.forms.texts.push(text);
        Ok(self.forms.texts.len() as u32 - 1)
    }

    #[inline]
    fn put(&mut self, form: Form, start: usize) {
        let span = Span {
            start: start as u32,
            end: self.at as u32,
        };
        let id = self.forms.add(form, span);
        self.waiting.push(id);
    }
}
