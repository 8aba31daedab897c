//! Erlang terms as `file:consult/1` reads them, as far as the golden cases have them.

use std::path::PathBuf;

/// A term.
#[derive(Debug, Clone, PartialEq)]
pub enum Term {
    /// An atom.
    Atom(String),
    /// An integer, by its digits.
    Int(String),
    /// A float.
    Float(f64),
    /// A binary, which is a text in all cases.
    Text(String),
    /// A list.
    List(Vec<Term>),
    /// A tuple.
    Tuple(Vec<Term>),
    /// A map.
    Map(Vec<(Term, Term)>),
}

#[allow(dead_code)]
impl Term {
    /// Returns the value of an atom key of a map.
    pub fn get(&self, key: &str) -> Option<&Term> {
        let Term::Map(pairs) = self else {
            return None;
        };
        let found = pairs.iter().find(|(known, _)| known.is_atom(key));
        found.map(|(_, value)| value)
    }

    /// Returns whether it is this atom.
    pub fn is_atom(&self, name: &str) -> bool {
        matches!(self, Term::Atom(atom) if atom == name)
    }

    /// Returns the text of a binary or the name of an atom.
    pub fn text(&self) -> &str {
        match self {
            Term::Text(text) | Term::Atom(text) => text,
            _ => panic!("no text: {self:?}"),
        }
    }

    /// Returns the items of a list or a tuple.
    pub fn items(&self) -> &[Term] {
        match self {
            Term::List(items) | Term::Tuple(items) => items,
            _ => panic!("no list: {self:?}"),
        }
    }
}

/// Reads all golden cases of the language, each with its file.
pub fn cases() -> Vec<(String, Term)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../test/vectors");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("the folder of the golden cases")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| name(path).starts_with("lisp_"))
        .collect();
    files.sort();
    let mut cases = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a file of golden cases");
        cases.extend((terms(&text).into_iter()).map(|case| (name(&file), case)));
    }
    cases
}

fn name(path: &std::path::Path) -> String {
    path.file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default()
}

/// Reads terms that end with a full stop.
pub fn terms(text: &str) -> Vec<Term> {
    let mut reader = Reader {
        bytes: text.as_bytes(),
        at: 0,
    };
    let mut terms = Vec::new();
    reader.space();
    while reader.at < reader.bytes.len() {
        terms.push(reader.term());
        reader.expect(b".");
        reader.space();
    }
    terms
}

struct Reader<'t> {
    bytes: &'t [u8],
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> u8 {
        self.bytes.get(self.at).copied().unwrap_or(0)
    }

    fn space(&mut self) {
        loop {
            match self.peek() {
                b' ' | b'\n' | b'\r' | b'\t' => self.at += 1,
                b'%' => {
                    while !matches!(self.peek(), b'\n' | 0) {
                        self.at += 1;
                    }
                }
                _ => return,
            }
        }
    }

    fn starts(&mut self, text: &[u8]) -> bool {
        let found = self.bytes[self.at..].starts_with(text);
        if found {
            self.at += text.len();
        }
        found
    }

    fn expect(&mut self, text: &[u8]) {
        self.space();
        assert!(self.starts(text), "{:?} at {}", text, self.at);
    }

    fn term(&mut self) -> Term {
        self.space();
        match self.peek() {
            b'#' => {
                self.at += 1;
                self.expect(b"{");
                Term::Map(self.until(b"}", |reader| {
                    let key = reader.term();
                    reader.expect(b"=>");
                    (key, reader.term())
                }))
            }
            b'{' => {
                self.at += 1;
                Term::Tuple(self.until(b"}", Reader::term))
            }
            b'[' => {
                self.at += 1;
                Term::List(self.until(b"]", Reader::term))
            }
            b'<' => self.binary(),
            b'"' => {
                let text = self.quoted(b'"');
                let characters = text.chars().map(|c| Term::Int((c as u32).to_string()));
                Term::List(characters.collect())
            }
            b'\'' => Term::Atom(self.quoted(b'\'')),
            b'-' | b'0'..=b'9' => self.number(),
            b'a'..=b'z' => Term::Atom(
                self.word(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'@'),
            ),
            byte => panic!("no term at {}: {}", self.at, char::from(byte)),
        }
    }

    fn until<T>(&mut self, end: &[u8], item: impl Fn(&mut Self) -> T) -> Vec<T> {
        let mut items = Vec::new();
        self.space();
        while !self.starts(end) {
            if !items.is_empty() {
                self.expect(b",");
            }
            items.push(item(self));
            self.space();
        }
        items
    }

    fn word(&mut self, belongs: impl Fn(u8) -> bool) -> String {
        let start = self.at;
        while belongs(self.peek()) {
            self.at += 1;
        }
        String::from_utf8_lossy(&self.bytes[start..self.at]).into_owned()
    }

    fn number(&mut self) -> Term {
        let text = self.word(|byte| byte.is_ascii_digit() || b"-+.e".contains(&byte));
        // A full stop behind an integer ends the term.
        let digits = text.trim_end_matches('.');
        self.at -= text.len() - digits.len();
        match digits.contains('.') {
            true => Term::Float(digits.parse().expect("a float")),
            false => Term::Int(digits.to_string()),
        }
    }

    fn binary(&mut self) -> Term {
        self.expect(b"<<");
        self.space();
        if self.starts(b">>") {
            return Term::Text(String::new());
        }
        let text = match self.peek() {
            b'"' => self.quoted(b'"'),
            _ => {
                let bytes = self.until(b">>", Reader::term);
                let bytes = bytes.iter().map(|byte| match byte {
                    Term::Int(digits) => digits.parse().expect("a byte"),
                    other => panic!("no byte: {other:?}"),
                });
                return Term::Text(String::from_utf8_lossy(&bytes.collect::<Vec<u8>>()).into());
            }
        };
        self.starts(b"/utf8");
        self.expect(b">>");
        Term::Text(text)
    }

    fn quoted(&mut self, quote: u8) -> String {
        self.at += 1;
        let mut bytes = Vec::new();
        loop {
            let byte = self.peek();
            self.at += 1;
            match byte {
                0 => panic!("a quote that is not closed"),
                b'\\' => {
                    let escaped = self.peek();
                    self.at += 1;
                    match escaped {
                        b'n' => bytes.push(b'\n'),
                        b't' => bytes.push(b'\t'),
                        b'r' => bytes.push(b'\r'),
                        b'b' => bytes.push(8),
                        b'f' => bytes.push(12),
                        b'v' => bytes.push(11),
                        b'e' => bytes.push(27),
                        b's' => bytes.push(b' '),
                        b'd' => bytes.push(127),
                        b'x' => {
                            self.expect(b"{");
                            let hex = self.word(|byte| byte.is_ascii_hexdigit());
                            self.expect(b"}");
                            let code = u32::from_str_radix(&hex, 16).expect("a number");
                            let character = char::from_u32(code).expect("a character");
                            let mut buffer = [0; 4];
                            bytes.extend(character.encode_utf8(&mut buffer).bytes());
                        }
                        b'0'..=b'7' => {
                            self.at -= 1;
                            let octal = self.word(|byte| (b'0'..=b'7').contains(&byte));
                            bytes.push(u8::from_str_radix(&octal, 8).expect("a byte"));
                        }
                        other => bytes.push(other),
                    }
                }
                byte if byte == quote => break,
                byte => bytes.push(byte),
            }
        }
        String::from_utf8(bytes).expect("a text of UTF-8")
    }
}
