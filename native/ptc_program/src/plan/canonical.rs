//! The bytes of a program of which its digest is made: they are equal for equal programs, however their texts are written.
//!
//! `PtcRunner.Json.Plan.Digest` makes them of terms. Each part begins with its kind and ends where its length says.

use ptc_json::{Document, Entry, Node};
use ptc_term::heap::Heap;
use ptc_term::meter::Meter;
use ptc_term::stop::Stop;

/// What takes longer than a slice is not written here: objects of more keys, and strings of more bytes.
const MOST_KEYS: u32 = 4_096;
const MOST_BYTES: usize = 1 << 20;
/// Fuel for a part, and the bytes that cost one unit more.
const FUEL_PER_PART: usize = 2;
const BYTES_A_UNIT: usize = 64;

/// A list or an object whose parts are being written.
#[derive(Debug, Clone, Copy)]
enum Around {
    /// Its next element, and the number of those that are left.
    List(Node, u32),
    /// The number of keys that are left: the last ones in `keys`.
    Object(u32),
}

/// The bytes that are being written.
#[derive(Debug)]
pub(super) struct Canonical {
    bytes: Vec<u8>,
    around: Vec<Around>,
    /// The keys of the objects, in descending order.
    keys: Vec<Node>,
    root: Option<Node>,
    /// Whether there is a part that is not written here.
    is_lost: bool,
}

impl Canonical {
    /// Begins with the part at `root`.
    pub fn new(root: Node) -> Self {
        Canonical {
            bytes: Vec::with_capacity(2_048),
            around: Vec::with_capacity(16),
            keys: Vec::with_capacity(64),
            root: Some(root),
            is_lost: false,
        }
    }

    /// Returns the words that it takes.
    pub fn words(&self) -> usize {
        self.bytes.len() / 8 + self.around.len() * 2 + self.keys.len() / 2
    }

    /// Continues until all is written.
    pub fn step<H: Heap>(
        &mut self,
        document: &Document,
        heap: &H,
        meter: &mut Meter,
    ) -> Result<(), Stop> {
        while let Some(node) = self.next(document) {
            let (before, keys) = (self.bytes.len(), self.keys.len());
            self.part(document, node);
            let made = (self.bytes.len() - before) / BYTES_A_UNIT;
            let keys = self.keys.len().saturating_sub(keys);
            meter.check_heap_limit(self.words(), heap)?;
            meter.consume_fuel(FUEL_PER_PART * (1 + keys) + made, heap)?;
        }
        Ok(())
    }

    /// Returns the bytes; `None` if not all of them could be written.
    pub fn bytes(&self) -> Option<&[u8]> {
        (!self.is_lost).then_some(&self.bytes[..])
    }

    /// Returns the next part, with its key written.
    fn next(&mut self, document: &Document) -> Option<Node> {
        if let Some(root) = self.root.take() {
            return Some(root);
        }
        loop {
            match self.around.last_mut()? {
                _ if self.is_lost => return None,
                Around::List(_, 0) | Around::Object(0) => {
                    self.around.pop();
                }
                Around::List(next, left) => {
                    let node = *next;
                    (*next, *left) = (document.end(node), *left - 1);
                    return Some(node);
                }
                Around::Object(left) => {
                    *left -= 1;
                    let key = self.keys.pop()?;
                    self.part(document, key);
                    return Some(key + 1);
                }
            }
        }
    }

    fn part(&mut self, document: &Document, node: Node) {
        match document.entry(node) {
            Entry::Null => self.bytes.extend(b"as3:nil"),
            Entry::Bool(true) => self.bytes.extend(b"as4:true"),
            Entry::Bool(false) => self.bytes.extend(b"as5:false"),
            Entry::Int(value) => {
                self.bytes.push(b'i');
                if value < 0 {
                    self.bytes.push(b'-');
                }
                self.number(value.unsigned_abs(), b';');
            }
            Entry::Float(value) => {
                self.bytes.push(b'f');
                self.bytes.extend(value.to_be_bytes());
            }
            entry @ (Entry::Str(..) | Entry::Unescaped(..) | Entry::BigInt(..)) => {
                match document.bytes(entry).filter(|it| it.len() <= MOST_BYTES) {
                    Some(digits) if matches!(entry, Entry::BigInt(..)) => {
                        self.bytes.push(b'i');
                        self.bytes.extend(digits);
                        self.bytes.push(b';');
                    }
                    Some(text) => {
                        self.bytes.push(b's');
                        self.number(text.len() as u64, b':');
                        self.bytes.extend(text);
                    }
                    None => self.is_lost = true,
                }
            }
            Entry::List(_, count) => {
                self.bytes.push(b'l');
                self.number(u64::from(count), b':');
                self.around.push(Around::List(node + 1, count));
            }
            Entry::Object(_, count) if count <= MOST_KEYS => self.object(document, node),
            Entry::Object(..) | Entry::Added(_) | Entry::Long(..) | Entry::Term(_) => {
                self.is_lost = true;
            }
        }
    }

    /// Of equal keys only the first one counts.
    fn object(&mut self, document: &Document, node: Node) {
        let start = self.keys.len();
        self.keys.extend(document.pairs(node).map(|(key, _)| key));
        let own = &mut self.keys[start..];
        // A stable sort, so that the first of equal keys stays before the others.
        own.sort_by_key(|key| document.text(*key));
        let mut kept = 0;
        for at in 0..own.len() {
            if kept == 0 || document.text(own[at]) != document.text(own[kept - 1]) {
                own[kept] = own[at];
                kept += 1;
            }
        }
        own[..kept].reverse();
        self.keys.truncate(start + kept);
        self.bytes.push(b'm');
        self.number(kept as u64, b':');
        self.around.push(Around::Object(kept as u32));
    }

    /// Writes a number and what follows it.
    fn number(&mut self, number: u64, then: u8) {
        if number < 10 {
            return self.bytes.extend_from_slice(&[b'0' + number as u8, then]);
        }
        let (mut digits, mut at, mut left) = ([0; 21], 20, number);
        digits[at] = then;
        loop {
            at -= 1;
            digits[at] = b'0' + (left % 10) as u8;
            left /= 10;
            if left == 0 {
                break;
            }
        }
        self.bytes.extend_from_slice(&digits[at..]);
    }
}
