//! Lines and columns of the parts of a program's text.

use crate::counts::{count, Counted};
use crate::load::Tabled;
use crate::source::KeptSource;
use ptc_json::{Document, Entry, JsonLimits, Node, ReadError, Table, TableReader};
use ptc_term::heap::Heap;
use ptc_term::job::Job;
use ptc_term::meter::Meter;
use ptc_term::number::Number;
use ptc_term::rooted;
use ptc_term::stop::Stop;
use ptc_term::suspend::One;
use ptc_term::workspace::Workspace;
use std::sync::Arc;

/// Number of bytes, and of parts of the program, that are passed in one step; and how many of them cost one unit of fuel.
const STRIDE: usize = 4_096;
const BYTES_A_UNIT: usize = 4;

/// Where the pass over a text is.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Inside {
    Nothing,
    /// A number, or a word.
    Scalar,
    String {
        escaped: bool,
    },
}

/// Finds lines and columns of parts, which are asked for in ascending order, in one pass over the text. Both count from
/// 1, columns in characters.
#[derive(Debug)]
pub struct Lines {
    at: usize,
    line: usize,
    column: usize,
    /// The number of the parts that begin before this place.
    parts: Node,
    inside: Inside,
}

/// Line and column; `None` if the text has no such part.
pub type LineColumn = Option<(usize, usize)>;

impl Default for Lines {
    fn default() -> Self {
        Lines {
            at: 0,
            line: 1,
            column: 1,
            parts: 0,
            inside: Inside::Nothing,
        }
    }
}

impl Lines {
    /// Goes on to the part of this number in the text's table; `None` if it is not reached within so many bytes.
    pub fn go_to(&mut self, text: &[u8], node: Node, bytes: usize) -> Option<LineColumn> {
        let end = text.len().min(self.at.saturating_add(bytes));
        while self.at < end {
            let byte = text[self.at];
            if self.inside == Inside::Scalar && b" \t\r\n,:]}[{\"".contains(&byte) {
                self.inside = Inside::Nothing;
            }
            if self.inside == Inside::Nothing && !b" \t\r\n,:]}".contains(&byte) {
                if self.parts == node {
                    return Some(Some((self.line, self.column)));
                }
                self.parts += 1;
                self.inside = match byte {
                    b'[' | b'{' => Inside::Nothing,
                    b'"' => Inside::String { escaped: false },
                    _ => Inside::Scalar,
                };
            } else if let Inside::String { escaped } = self.inside {
                self.inside = match byte {
                    b'"' if !escaped => Inside::Nothing,
                    byte => Inside::String {
                        escaped: byte == b'\\' && !escaped,
                    },
                };
            }
            self.at += 1;
            match byte {
                b'\n' => (self.line, self.column) = (self.line + 1, 1),
                // A character is counted at its first byte.
                byte => self.column += usize::from(byte & 0xc0 != 0x80),
            }
        }
        (self.at == text.len()).then_some(None)
    }
}

/// Returns line and column as a pair, or nil.
pub(super) fn place_term<H: Heap>(place: LineColumn, heap: &mut H) -> H::Term {
    let Some((line, column)) = place else {
        return heap.nil();
    };
    let mut number = |of: usize| {
        let number = heap.make_number(Number::Int(of as i64));
        number.unwrap_or_else(|| heap.nil())
    };
    let pair = [number(line), number(column)];
    heap.make_tuple(&pair)
}

#[derive(Debug)]
enum LocateStage {
    Read(TableReader),
    Follow(Followed),
    Pass(Node),
}

/// How far a path was followed.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Followed {
    /// To a part on the path; the next one inside it, and the number of those before that.
    Inside(Node, Node, u32),
    /// To its end.
    Found(Node),
    /// The program has no such part.
    Nowhere,
}

impl Followed {
    /// Begins at the root of a program.
    pub fn begin(root: Node) -> Self {
        Followed::Inside(root, root + 1, 0)
    }
}

/// The end of a path in a program's text as a job. The path is a list of keys and indices.
#[derive(Debug)]
pub struct Locate<T> {
    path: One<T>,
    state: LocateState,
}

rooted!(Locate { states: path; plain: state });

#[derive(Debug)]
struct LocateState {
    stage: LocateStage,
    tabled: Tabled,
    lines: Lines,
}

impl<T: Copy> Locate<T> {
    /// Begins with a text of this many bytes: `{"program": …}`.
    pub fn new(length: usize, path: T) -> Self {
        let reader = TableReader::new(length, JsonLimits::depth(usize::MAX));
        Locate::begin(
            LocateStage::Read(reader),
            Tabled::New(Table::default()),
            path,
        )
    }

    /// Begins with a program that was compiled from a text, which is not read again.
    pub fn of_source(source: Arc<KeptSource>, path: T) -> Self {
        let stage = LocateStage::Follow(Followed::begin(source.root));
        Locate::begin(stage, Tabled::Kept(source), path)
    }

    fn begin(stage: LocateStage, tabled: Tabled, path: T) -> Self {
        Locate {
            path: One(path),
            state: LocateState {
                stage,
                tabled,
                lines: Lines::default(),
            },
        }
    }
}

/// Goes on along the rest of a path; returns how far, and the fuel.
pub(crate) fn follow<H: Heap>(
    path: &mut One<H::Term>,
    to: Followed,
    source: &Document,
    heap: &H,
) -> (Followed, usize) {
    let Followed::Inside(at, next, before) = to else {
        return (to, 1);
    };
    let Some((step, rest)) = heap.uncons(path.0) else {
        return (Followed::Found(at), 1);
    };
    let (key, index) = (heap.bytes(step), heap.small_integer(step));
    let (end, count, width) = match source.entry(at) {
        Entry::Object(end, count) if key.is_some() => (end, count, 1),
        Entry::List(end, count) if index.is_some() => (end, count, 0),
        _ => return (Followed::Nowhere, 1),
    };
    let (mut part, mut passed) = (next, 0);
    while part < end && before + passed < count && (passed as usize) < STRIDE {
        let is_it = match key {
            Some(key) => source.text(part) == Some(key),
            None => index == Some(i64::from(before + passed)),
        };
        if is_it {
            *path = One(rest);
            let found = part + width;
            return (Followed::begin(found), 2 + passed as usize);
        }
        part = source.end(part + width);
        passed += 1;
    }
    match part < end && before + passed < count {
        true => (Followed::Inside(at, part, before + passed), passed as usize),
        false => (Followed::Nowhere, passed as usize),
    }
}

impl<H: Heap> Job<H> for Locate<H::Term> {
    /// Line and column, or nil.
    type Out = H::Term;

    fn step(&mut self, text: &[u8], heap: &mut H, meter: &mut Meter) -> Result<H::Term, Stop> {
        loop {
            let cost = match &mut self.state.stage {
                LocateStage::Follow(Followed::Nowhere) => return Ok(heap.nil()),
                LocateStage::Read(reader) => {
                    self.state.stage = match reader.read(text, Workspace::new(heap, meter)) {
                        Err(ReadError::Stop(stop)) => return Err(stop),
                        Err(ReadError::Json(_)) => LocateStage::Follow(Followed::Nowhere),
                        Ok(table) => {
                            count(Counted::Text);
                            let document = Document::new(text, &table);
                            let root = document.field(0, "program").unwrap_or(0);
                            self.state.tabled = Tabled::New(table);
                            LocateStage::Follow(Followed::begin(root))
                        }
                    };
                    1
                }
                LocateStage::Follow(to) => {
                    let document = Document::new(text, self.state.tabled.table());
                    let (to, cost) = follow(&mut self.path, *to, &document, heap);
                    self.state.stage = match to {
                        Followed::Found(node) => LocateStage::Pass(node),
                        to => LocateStage::Follow(to),
                    };
                    cost
                }
                LocateStage::Pass(node) => {
                    if let Some(place) = self.state.lines.go_to(text, *node, STRIDE) {
                        return Ok(place_term(place, heap));
                    }
                    STRIDE / BYTES_A_UNIT
                }
            };
            meter.consume_fuel(cost, heap)?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_has_its_place() {
        let text = "{\n \"ä\\\"b\": [1, {\"c\":\tnull}],\r\n  \"d\": \"x\"}";
        let table = Table::parse(text.as_bytes(), JsonLimits::depth(10)).unwrap();
        let document = Document::new(text.as_bytes(), &table);
        let wanted = [
            (1, 1),
            (2, 2),
            (2, 10),
            (2, 11),
            (2, 14),
            (2, 15),
            (2, 20),
            (3, 3),
            (3, 8),
        ];
        assert_eq!(document.end(0) as usize, wanted.len());
        let (mut whole, mut cut) = (Lines::default(), Lines::default());
        for (node, wanted) in wanted.into_iter().enumerate() {
            let node = node as Node;
            assert_eq!(
                whole.go_to(text.as_bytes(), node, 1_000),
                Some(Some(wanted))
            );
            let place = loop {
                if let Some(place) = cut.go_to(text.as_bytes(), node, 1) {
                    break place;
                }
            };
            assert_eq!(place, Some(wanted));
        }
        assert_eq!(whole.go_to(text.as_bytes(), 9, 1_000), Some(None));
    }
}
