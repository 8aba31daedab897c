//! Copies a program that is given as a term into the table that the compiler reads.
//!
//! Only what the compiler looks into is copied: operations and their fields, lists of them, objects and
//! names. Any other term is one entry, however large it is. The term of each entry is kept beside the
//! table, because the constants of a compiled program are its own terms.

use super::role::Role;
use crate::edition::Edition;
use crate::load::LoadTerms;
use crate::opcode::OpCode;
use ptc_json::{Entry, Outside, Shape, Table, LONG};
use ptc_term::heap::{Heap, Inside, Kind, Lookup};
use ptc_term::meter::Pace;
use ptc_term::number::Number;
use ptc_term::stop::Stop;
use ptc_term::value::Form;
use ptc_term::workspace::Workspace;

/// A term that is not copied yet, or the state of one that is partly copied.
#[derive(Debug, Clone, Copy)]
enum ToCopy {
    /// A term, with the number of operations around it.
    Copy(Role, u32),
    /// The rest of the list at this index.
    Rest(u32, Role, u32),
    /// The end of the map at this index.
    End(u32),
}

/// The state of the copy of a program, without its terms.
#[derive(Debug)]
pub(crate) struct Copier {
    table: Table,
    /// What follows, next one last. Each has a term.
    next: Vec<ToCopy>,
    /// Maximum nesting depth of operations.
    depth: u32,
    edition: Edition,
    /// Number of entries that were not counted yet.
    uncounted: usize,
    /// Whether the fuel of the next term was counted, before the work was suspended.
    counted: bool,
}

/// Number of entries between two checks of the limits.
const ENTRIES_BETWEEN_LOOKS: usize = 256;
/// Fuel per entry.
const FUEL_PER_ENTRY: usize = 4;
/// Words that an entry takes with its term.
const WORDS_PER_ENTRY: usize = size_of::<Entry>() / 8 + 1;
/// Words that what follows takes with its term.
const WORDS_PER_NEXT: usize = size_of::<ToCopy>() / 8 + 1;
/// Number of entries of a map from which on they are counted first.
const MANY: usize = 32;
/// Fuel for reading an entry of such a map.
const FUEL_PER_PAIR: usize = 8;
/// Bytes of a long name that are copied per unit of fuel, into a buffer that grows.
const BYTES_PER_UNIT: usize = 8;
/// Bytes of long keys that are compared per unit of fuel.
const COMPARED_PER_UNIT: usize = 64;

impl Copier {
    /// Creates the copy of the program whose term is `next` among the terms; it will be entry 0.
    pub fn new(depth: u32, edition: Edition) -> Self {
        let mut table = Table::for_text(4 * ENTRIES_BETWEEN_LOOKS);
        table.unescaped.reserve(LONG);
        let mut next = Vec::with_capacity(32);
        next.push(ToCopy::Copy(Role::Operation, 1));
        Copier {
            table,
            next,
            depth,
            edition,
            uncounted: 0,
            counted: false,
        }
    }

    /// Runs to the end; then the table is complete.
    pub fn run<H: Heap>(
        &mut self,
        terms: &mut LoadTerms<H::Term>,
        work: &mut Workspace<H>,
    ) -> Result<Table, Stop> {
        while let Some(next) = self.next.last().copied() {
            if self.uncounted >= ENTRIES_BETWEEN_LOOKS {
                let fuel = std::mem::take(&mut self.uncounted) * FUEL_PER_ENTRY;
                work.consume_fuel_or_suspend(fuel)?;
                self.check_heap_limit(0, work)?;
            }
            self.uncounted += 1;
            let term = terms.next.pop(work.heap);
            self.next.pop();
            let done = match next {
                ToCopy::Copy(role, depth) => self.copy(term, role, depth, terms, work),
                ToCopy::Rest(at, role, depth) => {
                    self.rest(term, (at, role, depth), terms, work.heap)
                }
                ToCopy::End(at) => self.close(at),
            };
            if let Err(stop) = done {
                self.next.push(next);
                terms.next.push(term);
                return Err(stop);
            }
        }
        Ok(std::mem::take(&mut self.table))
    }

    /// Counts the fuel of a large term. A quantum reads it then; a slice only if it has time for it.
    fn count<H: Heap>(&mut self, fuel: usize, work: &mut Workspace<H>) -> Result<(), Stop> {
        let counted = std::mem::replace(&mut self.counted, true);
        if !counted || work.meter.pace() != Pace::Quantum {
            work.consume_fuel_or_suspend(fuel)?;
        }
        self.counted = false;
        Ok(())
    }

    fn check_heap_limit<H: Heap>(&self, words: usize, work: &Workspace<H>) -> Result<(), Stop> {
        let entries = self.table.entries.len() * WORDS_PER_ENTRY;
        let next = self.next.len() * WORDS_PER_NEXT;
        // The table has offsets of 32 bits.
        let bytes = self.table.unescaped.len() + 8 * words;
        match bytes > u32::MAX as usize || self.table.entries.len() > u32::MAX as usize / 2 {
            true => Err(Stop::MemoryExceeded),
            false => work.check_heap_limit(entries + next + bytes / 8),
        }
    }

    /// Adds the end, the rest or the copy of a term to what follows.
    fn push<T: Copy>(&mut self, next: ToCopy, term: T, terms: &mut LoadTerms<T>) {
        self.next.push(next);
        terms.next.push(term);
    }

    fn add<T: Copy>(&mut self, entry: Entry, term: T, terms: &mut LoadTerms<T>) -> u32 {
        self.table.entries.push(entry);
        terms.entries.push(term);
        self.table.entries.len() as u32 - 1
    }

    fn close(&mut self, at: u32) -> Result<(), Stop> {
        let after = self.table.entries.len() as u32;
        if let Entry::List(end, _) | Entry::Object(end, _) = &mut self.table.entries[at as usize] {
            *end = after;
        }
        Ok(())
    }

    /// Copies the next element of a list; at its end, closes it.
    fn rest<H: Heap>(
        &mut self,
        rest: H::Term,
        (at, role, depth): (u32, Role, u32),
        terms: &mut LoadTerms<H::Term>,
        heap: &H,
    ) -> Result<(), Stop> {
        if let Some((element, rest)) = heap.uncons(rest) {
            if let Entry::List(_, count) = &mut self.table.entries[at as usize] {
                *count += 1;
            }
            self.push(ToCopy::Rest(at, role, depth), rest, terms);
            self.push(ToCopy::Copy(role, depth), element, terms);
        } else if heap.is_empty_list(rest) {
            self.close(at)?;
        } else {
            // An improper list is not looked into.
            while self.table.entries.len() > at as usize + 1 {
                self.table.entries.pop();
                terms.entries.pop(heap);
            }
            self.table.entries[at as usize] = Entry::outside(Shape::Other, true);
        }
        Ok(())
    }

    fn copy<H: Heap>(
        &mut self,
        term: H::Term,
        role: Role,
        depth: u32,
        terms: &mut LoadTerms<H::Term>,
        work: &mut Workspace<H>,
    ) -> Result<(), Stop> {
        let kind = work.heap.kind(term);
        let entry = match (kind, role) {
            (Kind::List, Role::Operation | Role::Names | Role::Template | Role::Rows) => {
                let at = self.add(Entry::List(0, 0), term, terms);
                let role = match role {
                    Role::Operation => Role::Element,
                    Role::Template => Role::Template,
                    Role::Rows => Role::Fields,
                    _ => Role::Constant,
                };
                self.push(ToCopy::Rest(at, role, depth), term, terms);
                return Ok(());
            }
            (
                Kind::Map,
                Role::Operation | Role::Element | Role::Fields | Role::Value | Role::Template,
            ) if depth <= self.depth.saturating_add(1) => {
                return self.map(term, role, depth, terms, work);
            }
            (Kind::Nil, _) => Entry::Null,
            (Kind::Bool, _) => Entry::Bool(work.heap.truthy(term)),
            (Kind::Number, _) => number(term, work.heap),
            (Kind::String, _) => self.string(term, role, work)?,
            (Kind::Map, _) => Entry::outside(Shape::Map, true),
            (Kind::List, _) => Entry::outside(Shape::Other, true),
            (Kind::Other, _) => {
                let has_parts = !matches!(work.heap.inside(term), Inside::Nothing);
                Entry::outside(Shape::Other, has_parts)
            }
        };
        self.add(entry, term, terms);
        Ok(())
    }

    fn string<H: Heap>(
        &mut self,
        term: H::Term,
        role: Role,
        work: &mut Workspace<H>,
    ) -> Result<Entry, Stop> {
        let length = work.heap.byte_length(term).unwrap_or(0);
        let mut copied = length;
        match role {
            _ if length <= LONG => {}
            Role::Names => {
                self.count(length / BYTES_PER_UNIT, work)?;
                self.check_heap_limit(length / 8 + 1, work)?;
            }
            Role::Key => {
                self.count(work.heap.bytes_to_copy(term) / BYTES_PER_UNIT, work)?;
                copied = LONG;
            }
            _ => return Ok(Entry::Long(0, 0)),
        }
        let start = self.table.unescaped.len() as u32;
        let bytes = work.heap.bytes(term).unwrap_or_default();
        self.table
            .unescaped
            .extend_from_slice(&bytes[..copied.min(bytes.len())]);
        let end = self.table.unescaped.len() as u32;
        Ok(match copied == length {
            true => Entry::Unescaped(start, end),
            false => Entry::Long(start, end),
        })
    }

    fn map<H: Heap>(
        &mut self,
        map: H::Term,
        role: Role,
        depth: u32,
        terms: &mut LoadTerms<H::Term>,
        work: &mut Workspace<H>,
    ) -> Result<(), Stop> {
        let size = work.heap.map_size(map).unwrap_or(0);
        if size > MANY {
            if role == Role::Value && !has_op(map, work.heap) {
                self.add(Entry::outside(Shape::Map, true), map, terms);
                return Ok(());
            }
            self.count(FUEL_PER_PAIR * size, work)?;
            self.check_heap_limit((WORDS_PER_ENTRY + WORDS_PER_NEXT) * 2 * size, work)?;
        }
        let heap = &mut *work.heap;
        let mut pairs = heap.entries(map);
        let (mut op, mut uncommon, mut bytes) = (None, 0, 0);
        for (key, value) in &pairs {
            match heap.byte_length(*key) {
                Some(2) if heap.bytes(*key) == Some(b"op") => {
                    let name = short(*value, heap);
                    op = Some(OpCode::from_name(name, self.edition));
                }
                Some(..=LONG) => {}
                length => {
                    uncommon += 1;
                    bytes += length.unwrap_or(0);
                }
            }
        }
        if uncommon > 0 {
            if is_struct(map, &pairs, heap) {
                self.add(Entry::outside(Shape::Struct, true), map, terms);
                return Ok(());
            }
            let rounds = size.ilog2() as usize + 1;
            work.consume_fuel(bytes / COMPARED_PER_UNIT * rounds)?;
            let heap = &*work.heap;
            pairs.sort_by(|(a, _), (b, _)| heap.compare(*a, *b));
        }
        let is_name = |op: &Option<OpCode>| op.is_some() || role != Role::Template;
        let op = op.filter(|op| role != Role::Fields && is_name(op));
        if op.is_none() && role == Role::Value {
            self.add(Entry::outside(Shape::Map, true), map, terms);
            return Ok(());
        }
        let is_data = role == Role::Fields || (role == Role::Template && op.is_none());
        let inner = depth + u32::from(!is_data);
        let at = self.add(Entry::Object(0, size as u32), map, terms);
        self.push(ToCopy::End(at), map, terms);
        // Most fields hold names and numbers.
        let heap = &*work.heap;
        let small =
            |(key, value): &&(H::Term, H::Term)| is_small(*key, heap) && is_small(*value, heap);
        let first = pairs.iter().take(MANY).take_while(small).count();
        self.uncounted += 2 * first;
        for (key, value) in pairs.drain(..first) {
            self.copy(key, Role::Key, inner, terms, work)?;
            self.copy(value, Role::Constant, inner, terms, work)?;
        }
        for (key, value) in pairs.into_iter().rev() {
            let role = match op {
                None if self.edition == Edition::Two => Role::Template,
                None => Role::Value,
                Some(op) => Role::of_field(op, short(key, work.heap), self.edition),
            };
            self.push(ToCopy::Copy(role, inner), value, terms);
            self.push(ToCopy::Copy(Role::Key, inner), key, terms);
        }
        Ok(())
    }
}

/// Returns whether a term is copied in constant time, whatever the compiler looks for.
fn is_small<H: Heap>(term: H::Term, heap: &H) -> bool {
    match heap.kind(term) {
        Kind::Nil | Kind::Bool | Kind::Number => true,
        Kind::String => heap.byte_length(term).is_some_and(|bytes| bytes <= LONG),
        Kind::List | Kind::Map | Kind::Other => false,
    }
}

/// Returns the content of a string that is not long; otherwise nothing.
fn short<H: Heap>(term: H::Term, heap: &H) -> &[u8] {
    match heap.byte_length(term) {
        Some(..=LONG) => heap.bytes(term).unwrap_or_default(),
        _ => &[],
    }
}

fn number<H: Heap>(term: H::Term, heap: &mut H) -> Entry {
    if let Some(value) = heap.small_integer(term) {
        return Entry::Int(value);
    }
    if let Some(value) = heap.float(term) {
        return Entry::Float(value);
    }
    let zero = heap.make_number(Number::Int(0));
    Entry::Term(Outside {
        shape: Shape::Integer {
            negative: zero.is_some_and(|zero| heap.compare(term, zero).is_lt()),
        },
        has_parts: false,
        is_long: 8 * heap.limbs(term) > LONG,
    })
}

fn has_op<H: Heap>(map: H::Term, heap: &mut H) -> bool {
    let op = heap.make_string(b"op");
    let found = heap.lookup(map, op, &mut H::KeyCache::default());
    matches!(found, Lookup::Found(_))
}

/// Returns whether a map has the key `__struct__`, whatever its value is.
fn is_struct<H: Heap>(map: H::Term, pairs: &[(H::Term, H::Term)], heap: &mut H) -> bool {
    if heap.form(map) != Form::Plain || !pairs.iter().any(|(key, _)| heap.is_hidden(*key)) {
        return heap.form(map) != Form::Plain;
    }
    let name = heap.make_string(b"__struct__");
    let key = heap.atom_named(name);
    key.is_some_and(|key| pairs.iter().any(|(other, _)| heap.identical(*other, key)))
}
