//! What a syntax error is about.

use crate::ast::{Part, Problem, Span};

/// A kind of bracket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bracket {
    /// `( … )`
    List,
    /// `[ … ]`
    Vector,
    /// `{ … }`
    Map,
    /// `#{ … }`
    Set,
    /// `#( … )`
    Short,
}

impl Bracket {
    /// Returns the bracket that closes it.
    pub fn closing(self) -> u8 {
        match self {
            Bracket::List | Bracket::Short => b')',
            Bracket::Vector => b']',
            Bracket::Map | Bracket::Set => b'}',
        }
    }

    fn name(self) -> &'static str {
        match self {
            Bracket::List => "list",
            Bracket::Vector => "vector",
            Bracket::Map => "map",
            Bracket::Set => "set",
            Bracket::Short => "short function",
        }
    }
}

/// Why reading has ended.
#[derive(Debug)]
pub struct Wrong {
    code: &'static str,
    parts: Vec<Part>,
    /// Whether the message has the line and the column.
    placed: bool,
    start: usize,
    end: usize,
}

impl Wrong {
    /// An error at a byte. The message has the place, if it says that something cannot be read.
    pub fn at(code: &'static str, start: usize) -> Self {
        let placed = code.starts_with("no_");
        Wrong {
            placed,
            ..Wrong::between(code, start, start + 1)
        }
    }

    /// An error whose message has the line and the column.
    pub fn placed(code: &'static str, start: usize) -> Self {
        Wrong {
            placed: true,
            ..Wrong::between(code, start, start + 1)
        }
    }

    /// An error of a part of the text.
    pub fn between(code: &'static str, start: usize, end: usize) -> Self {
        Wrong {
            code,
            parts: Vec::new(),
            placed: false,
            start,
            end,
        }
    }

    /// The error with a part of its message.
    pub fn with(mut self, text: String) -> Self {
        self.parts.push(Part::Text(text));
        self
    }

    /// A bracket that is not closed where it should be.
    pub fn unclosed(kind: Bracket, at: usize) -> Self {
        Wrong::placed("unclosed", at).with(kind.name().to_string())
    }

    /// A map with a key without a value.
    pub fn odd_map(forms: u32, start: usize, end: usize) -> Self {
        let mut wrong = Wrong::between("odd_map", start, end);
        wrong.parts.push(Part::Number(i64::from(forms)));
        wrong
    }
}

/// Returns the problem of a text that could not be read. Brackets that do not balance come first.
pub fn problem(source: &str, wrong: &Wrong) -> Problem {
    if let Some(problem) = unbalanced(source) {
        return problem;
    }
    let mut parts = wrong.parts.clone();
    if wrong.placed {
        let (line, column) = place(source, wrong.start);
        parts.extend([Part::Number(line), Part::Number(column)]);
    }
    let (start, end) = (source.floor_char_boundary(wrong.start), wrong.end);
    Problem {
        reason: "parse_error",
        code: wrong.code,
        parts,
        at: Span {
            start: start as u32,
            end: source.ceil_char_boundary(end) as u32,
        },
    }
}

/// Returns the problem of syntax that is refused.
pub fn refused(code: &'static str, at: usize) -> Problem {
    Problem {
        reason: "parse_error",
        code,
        parts: Vec::new(),
        at: Span {
            start: at as u32,
            end: at as u32 + 2,
        },
    }
}

/// Returns the line and the column of a byte, both from 1; columns are characters.
fn place(source: &str, at: usize) -> (i64, i64) {
    let before = &source[..source.floor_char_boundary(at)];
    let line = before.bytes().filter(|byte| *byte == b'\n').count();
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let column = before[start..].chars().count();
    (line as i64 + 1, column as i64 + 1)
}

/// Returns the problem of brackets that do not balance: of the first kind of which there are more or fewer that open than close,
/// counted over the whole text.
fn unbalanced(source: &str) -> Option<Problem> {
    let kinds = [
        ("parentheses", b'(', b')'),
        ("brackets", b'[', b']'),
        ("braces", b'{', b'}'),
    ];
    kinds.into_iter().find_map(|(kind, opening, closing)| {
        let mut balance = 0_i64;
        let mut last = [0, 0];
        for (at, byte) in source.bytes().enumerate() {
            if byte == opening {
                balance += 1;
                last[0] = at;
            } else if byte == closing {
                balance -= 1;
                last[1] = at;
            }
        }
        let (code, at) = match balance {
            0 => return None,
            1.. => ("unclosed_brackets", last[0]),
            _ => ("extra_brackets", last[1]),
        };
        let sign = if balance > 0 { opening } else { closing };
        Some(Problem {
            reason: "parse_error",
            code,
            parts: vec![
                Part::Text(kind.to_string()),
                Part::Number(balance.abs()),
                Part::Text(char::from(sign).to_string()),
            ],
            at: Span {
                start: at as u32,
                end: at as u32 + 1,
            },
        })
    })
}
