//! Parser from text to types: one loop over the bytes, with a stack of open types.

use super::rules::Rules;
use super::types::{Field, Fields, Scalar, Signature, Type, TypeId, Types};
use ptc_term::named::named;

named! {
    /// What the parser expected at a syntax error.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Expected {
        /// `(1 :int)`: a type.
        Type = "type",
        /// `:foo`: a type word after the colon.
        TypeWord = "type_word",
        /// `{1 :int}`: the name of a field.
        FieldName = "field_name",
        /// `{1}`: the name of a field, or the end of the map.
        FieldNameOrEnd = "field_name_or_end",
        /// `{a :int b}`: a comma, a field with a colon after white space, or the end of the map.
        CommaOrMapEnd = "comma_or_map_end",
        /// `[:int`: the end of the list.
        ListEnd = "list_end",
        /// `(a :int, )`: the name of a parameter.
        ParamName = "param_name",
        /// `(1)`: the name of a parameter, or the end of the parameters.
        ParamNameOrEnd = "param_name_or_end",
        /// `(a :int b :int)`: a comma, or the end of the parameters.
        CommaOrParamsEnd = "comma_or_params_end",
        /// `() :int`: the arrow.
        Arrow = "arrow",
        /// `:int x`: the end of the text.
        End = "end",
    }
}

/// Why a text is not a signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SyntaxError {
    /// The reported offset: the start of the signature, or of the remaining text.
    pub column: usize,
    /// The offset of the actual error, which may be deep inside.
    pub deepest: usize,
    /// What was expected there.
    pub expected: Expected,
}

/// Parses a signature that spans the whole text, by the newest rules.
pub fn parse(text: &[u8]) -> Result<Signature, SyntaxError> {
    parse_by(Rules::NEWEST, text)
}

/// Parses a signature that spans the whole text.
pub fn parse_by(rules: Rules, text: &[u8]) -> Result<Signature, SyntaxError> {
    let mut parser = Parser {
        text,
        newer: rules.newer_syntax,
        at: 0,
        types: Types::new(),
        params: Fields::default(),
        open: Vec::with_capacity(8),
        pending: Vec::with_capacity(16),
    };
    parser.skip_trivia();
    let start = parser.at;
    let signature = match parser.signature() {
        Ok(returns) => returns,
        Err(expected) => {
            return Err(SyntaxError {
                column: start + usize::from(text.get(start) == Some(&b':')),
                deepest: parser.at,
                expected,
            })
        }
    };
    parser.skip_trivia();
    match parser.at == text.len() {
        true => Ok(Signature {
            types: parser.types,
            params: parser.params,
            returns: signature,
        }),
        false => Err(SyntaxError {
            column: parser.at,
            deepest: parser.at,
            expected: Expected::End,
        }),
    }
}

/// An incomplete type.
enum OpenSyntax {
    List,
    /// With the index of its first field among the pending ones.
    Map(usize),
    Params,
}

struct Parser<'t> {
    text: &'t [u8],
    /// See [`Rules::newer_syntax`].
    newer: bool,
    at: usize,
    types: Types,
    params: Fields,
    open: Vec<OpenSyntax>,
    /// The fields of all open maps; the last one has no type yet.
    pending: Vec<Field<'t>>,
}

/// Placeholder for the type of a pending field.
const LATER: TypeId = TypeId(u32::MAX);

impl<'t> Parser<'t> {
    fn signature(&mut self) -> Result<TypeId, Expected> {
        if u32::try_from(self.text.len()).is_err() {
            return Err(Expected::Type);
        }
        if self.peek() == Some(b'(') {
            self.at += 1;
            self.skip_trivia();
            match self.peek() {
                Some(b')') => self.params_end()?,
                _ => {
                    self.open.push(OpenSyntax::Params);
                    self.name(Expected::ParamNameOrEnd)?;
                }
            }
        } else if self.newer && matches!(self.text[self.at..], [b'-', b'>', b' ', b'{' | b'[', ..])
        {
            // A signature without parameters is rendered so. Before the word of a type the original's error stays.
            self.at += 3;
        }
        loop {
            let complete = match self.peek() {
                Some(b':') => Some(self.scalar()?),
                Some(b'[') => {
                    self.at += 1;
                    self.skip_trivia();
                    self.open.push(OpenSyntax::List);
                    None
                }
                Some(b'{') => self.map_start()?,
                _ => return Err(Expected::Type),
            };
            if let Some(of) = complete {
                if let Some(returns) = self.complete(of)? {
                    return Ok(returns);
                }
            }
        }
    }

    /// Adds a type and closes the types that end with it; returns the type once none is open.
    fn complete(&mut self, of: Type) -> Result<Option<TypeId>, Expected> {
        let mut id = self.add(of);
        loop {
            match self.open.last() {
                None => return Ok(Some(id)),
                Some(OpenSyntax::List) => {
                    self.skip_trivia();
                    if self.peek() != Some(b']') {
                        return Err(Expected::ListEnd);
                    }
                    self.at += 1;
                    self.open.pop();
                    id = self.add(Type::List(id));
                }
                Some(OpenSyntax::Map(start)) => {
                    let start = *start;
                    self.settle(id);
                    if !self.map_goes_on()? {
                        self.open.pop();
                        let fields = self.types.add_fields(self.pending.drain(start..));
                        id = self.add(Type::Map {
                            fields,
                            closed: false,
                        });
                        continue;
                    }
                    return Ok(None);
                }
                Some(OpenSyntax::Params) => {
                    self.settle(id);
                    self.skip_trivia();
                    match self.peek() {
                        Some(b',') => {
                            self.at += 1;
                            self.skip_trivia();
                            self.name(Expected::ParamName)?;
                        }
                        Some(b')') => {
                            self.open.pop();
                            self.params = self.types.add_fields(self.pending.drain(..));
                            self.params_end()?;
                        }
                        _ => return Err(Expected::CommaOrParamsEnd),
                    }
                    return Ok(None);
                }
            }
        }
    }

    /// Adds a type; makes it optional if a question mark follows directly.
    fn add(&mut self, of: Type) -> TypeId {
        let id = self.types.add(of);
        let takes_mark = self.newer || matches!(of, Type::Scalar(_));
        if self.peek() != Some(b'?') || !takes_mark {
            return id;
        }
        self.at += 1;
        self.types.add(Type::Optional(id))
    }

    /// Sets the type of the pending field.
    fn settle(&mut self, id: TypeId) {
        if let Some(field) = self.pending.last_mut() {
            field.holds = id;
        }
    }

    /// After a field of a map: reads the start of the next field, or the end of the map.
    fn map_goes_on(&mut self) -> Result<bool, Expected> {
        let end_of_type = self.at;
        self.skip_trivia();
        match self.peek() {
            Some(b'}') => {
                self.at += 1;
                return Ok(false);
            }
            Some(b',') => {
                self.at += 1;
                self.skip_trivia();
            }
            Some(b':') if self.at > end_of_type => {}
            _ => return Err(Expected::CommaOrMapEnd),
        }
        self.field_name(Expected::FieldName)?;
        Ok(true)
    }

    fn map_start(&mut self) -> Result<Option<Type>, Expected> {
        self.at += 1;
        self.skip_trivia();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(Some(Type::Map {
                fields: Fields::default(),
                closed: false,
            }));
        }
        self.open.push(OpenSyntax::Map(self.pending.len()));
        self.field_name(Expected::FieldNameOrEnd)?;
        Ok(None)
    }

    fn params_end(&mut self) -> Result<(), Expected> {
        self.at += 1;
        self.skip_trivia();
        if !self.text[self.at..].starts_with(b"->") {
            return Err(Expected::Arrow);
        }
        self.at += 2;
        self.skip_trivia();
        Ok(())
    }

    fn field_name(&mut self, expected: Expected) -> Result<(), Expected> {
        self.at += usize::from(self.peek() == Some(b':'));
        self.name(expected)
    }

    /// Reads a name and the separator between it and its type.
    fn name(&mut self, expected: Expected) -> Result<(), Expected> {
        let start = self.at;
        if !matches!(self.peek(), Some(b'A'..=b'Z' | b'a'..=b'z' | b'_')) {
            return Err(expected);
        }
        while matches!(
            self.peek(),
            Some(b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-')
        ) {
            self.at += 1;
        }
        self.pending.push(Field {
            name: &self.text[start..self.at],
            holds: LATER,
        });
        self.skip_trivia();
        Ok(())
    }

    fn scalar(&mut self) -> Result<Type, Expected> {
        let rest = &self.text[self.at + 1..];
        let (scalar, length) = match rest.first() {
            Some(b's') => (Scalar::String, 6),
            Some(b'i') => (Scalar::Int, 3),
            Some(b'f') => (Scalar::Float, 5),
            Some(b'b') if self.newer && rest.starts_with(b"boolean") => (Scalar::Bool, 7),
            Some(b'b') => (Scalar::Bool, 4),
            Some(b'k') => (Scalar::Keyword, 7),
            Some(b'a') => (Scalar::Any, 3),
            Some(b'm') => (Scalar::Map, 3),
            Some(b'd') if self.newer => (Scalar::DateTime, 8),
            _ => return Err(Expected::TypeWord),
        };
        let word = scalar.name().as_bytes();
        if !rest.starts_with(word) {
            return Err(Expected::TypeWord);
        }
        self.at += 1 + length;
        Ok(Type::Scalar(scalar))
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    /// Skips white space and comments.
    fn skip_trivia(&mut self) {
        loop {
            match self.peek() {
                Some(b' ' | b'\t' | b'\n' | b'\r') => self.at += 1,
                Some(b';') => {
                    let rest = &self.text[self.at..];
                    self.at += memchr::memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
                }
                _ => return,
            }
        }
    }
}

#[cfg(test)]
mod tests;
