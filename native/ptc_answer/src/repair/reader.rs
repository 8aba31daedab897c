//! The set of readings that are alive, the operations on one, and whether it may end where it is.

use crate::repair::policy::{Fault, Wanted};
use crate::repair::readings::{
    equal_events, Bracket, Branch, BranchFrame, Event, Log, Phase, Recent, Span, Token, ROOT,
};
use crate::repair::text::{begins_field, quote, skip_all_blanks};
use crate::repair::Stop;
use crate::LIMITS;
use ptc_term::heap::Heap;
use ptc_term::meter::Meter;
use ptc_type::{TypeId, Types};
use std::cell::OnceCell;

/// Maximum number of readings that are kept at the same time.
const WIDTH: usize = 20;
/// A reading is dropped if it costs this much more than another one that is at least as far.
const MARGIN: u32 = 26;
/// Maximum number of insertions at one offset.
const STILL: u32 = 6;

/// The state of a search.
#[derive(Debug)]
pub struct SearchState {
    pub(in crate::repair) log: Log,
    /// The frames around the innermost open ones.
    pub(in crate::repair) frames: Vec<BranchFrame>,
    /// The JSON found inside strings.
    pub(in crate::repair) inner: Vec<Vec<u8>>,
    pub(in crate::repair) queue: Vec<Branch>,
    pub(in crate::repair) ends: Vec<Branch>,
    /// Offset up to which text that parses may still be part of the fault.
    pub(in crate::repair) horizon: u32,
    /// The offset where the readings began.
    pub(in crate::repair) start: u32,
    /// For each offset whether the text after it closes brackets that were opened before it.
    pub(in crate::repair) unopened: OnceCell<Vec<bool>>,
    /// The text that is read is valid JSON: only values and keys are converted.
    pub(in crate::repair) valid: bool,
    /// No fault was found yet.
    pub(in crate::repair) straight: bool,
    /// The only reading, while the text is correct.
    pub(in crate::repair) running: Option<(Branch, Recent)>,
}

impl SearchState {
    /// Creates the state for a text of this many bytes.
    pub fn new(length: usize) -> Self {
        SearchState {
            log: Log::for_text(length),
            frames: Vec::with_capacity(16 + length / 64),
            inner: Vec::new(),
            queue: Vec::with_capacity(WIDTH + 1),
            ends: Vec::new(),
            horizon: 0,
            start: 0,
            unopened: OnceCell::new(),
            valid: false,
            straight: false,
            running: None,
        }
    }
}

/// Reads a text in all likely ways at the same time.
pub struct Reader<'r, 'm, H: Heap> {
    pub(in crate::repair) text: &'r [u8],
    pub(in crate::repair) wanted: &'r Wanted,
    /// What a search that is suspended keeps.
    pub(in crate::repair) state: SearchState,
    pub(in crate::repair) meter: &'m mut Meter,
    pub(in crate::repair) heap: &'m H,
}

impl<'r, H: Heap> Reader<'r, '_, H> {
    /// Suspends at a point where no work is lost, if the quantum is over.
    #[inline]
    pub fn suspend_if_due(&self) -> Result<(), Stop> {
        match self.meter.is_overdue() {
            true => Err(Stop::SliceOver),
            false => Ok(()),
        }
    }

    /// Creates a reading that begins at an offset.
    pub fn begin(&mut self, at: usize, ty: TypeId) -> Branch {
        self.state.start = at as u32;
        Branch {
            at: at as u32,
            cost: 0,
            broken: 0,
            faults: 0,
            node: ROOT,
            ty,
            still: 0,
            phase: Phase::Member,
            top: BranchFrame {
                seen: 0,
                spelled: 0,
                outer: 0,
                parent: 0,
                ty: Types::ANY,
                depth: 0,
                hint: 0,
                kind: Bracket::Top,
            },
            token: Token::NONE,
        }
    }

    /// Counts work, and the memory that it uses.
    #[inline]
    pub fn consume_fuel(&mut self, units: usize) -> Result<(), Stop> {
        self.meter.consume_fuel(units, self.heap)?;
        Ok(())
    }

    /// Checks that the heap limit permits this many more words.
    pub fn check_words(&self, words: usize) -> Result<(), Stop> {
        self.meter.check_heap_limit(words, self.heap)?;
        Ok(())
    }

    /// Checks that the heap limit permits the current state.
    pub fn check_memory(&self) -> Result<(), Stop> {
        let words = 2 * self.state.log.len() + 5 * self.state.frames.len();
        self.meter.check_heap_limit(words, self.heap)?;
        Ok(())
    }

    #[inline]
    pub fn byte(&self, at: usize) -> u8 {
        self.text.get(at).copied().unwrap_or(0)
    }

    #[inline]
    pub fn types(&self) -> &'r Types {
        self.wanted.types()
    }

    /// Adds an event to a reading.
    #[inline]
    pub fn event(&mut self, branch: &mut Branch, event: Event) {
        branch.node = self.state.log.add(branch.node, event);
    }

    /// Adds a repair and its cost to a reading.
    pub fn repair(&mut self, branch: &mut Branch, fault: Fault, start: usize, end: usize) {
        let bit = 1 << fault as u32;
        branch.cost += match branch.faults & bit {
            0 => fault.cost(),
            _ => fault.cost_again(),
        };
        branch.faults |= bit;
        if self.state.valid && !fault.is_conversion() {
            branch.refuse();
        }
        self.event(branch, Event::Repair(fault, Span::new(start, end)));
    }

    /// Returns the offset of an insertion before `at`: directly after the preceding text.
    pub fn gap(&self, at: usize) -> usize {
        self.text[..at].trim_ascii_end().len()
    }

    /// Opens an object or a list.
    #[inline]
    pub fn open(&mut self, branch: &mut Branch, kind: Bracket, ty: TypeId) {
        self.event(branch, Event::Open(kind == Bracket::Object));
        self.state.frames.push(branch.top);
        branch.top = BranchFrame {
            seen: 0,
            spelled: 0,
            outer: branch.top.hash(),
            parent: self.state.frames.len() as u32 - 1,
            ty,
            depth: branch.top.depth + 1,
            hint: 0,
            kind,
        };
        branch.ty = ty;
        branch.phase = match kind {
            Bracket::Object => Phase::FirstKey,
            _ => Phase::First,
        };
    }

    /// Closes the innermost object or list, and continues after it.
    #[inline]
    pub fn close(&mut self, branch: &mut Branch) {
        self.event(branch, Event::Close(branch.top.kind == Bracket::Object));
        branch.top = self.state.frames[branch.top.parent as usize];
        self.after_value(branch);
    }

    /// Continues after a value.
    #[inline]
    pub fn after_value(&mut self, branch: &mut Branch) {
        branch.phase = Phase::After;
        loop {
            match branch.top.kind {
                Bracket::Object | Bracket::Array => return,
                Bracket::Top => {
                    branch.phase = Phase::Done;
                    return;
                }
                Bracket::One => {
                    self.event(branch, Event::Close(false));
                    branch.top = self.state.frames[branch.top.parent as usize];
                }
            }
        }
    }

    /// Returns whether the frame has all fields that its type requires.
    #[inline]
    pub fn is_complete(&self, frame: &BranchFrame) -> bool {
        let map = match frame.kind {
            Bracket::Object => self.types().map(frame.ty),
            _ => None,
        };
        map.is_none_or(|(fields, _)| self.types().is_complete(fields, frame.seen, false))
    }

    /// Returns whether the depth limit permits one more frame.
    pub fn is_shallow(&self, branch: &Branch) -> bool {
        (branch.top.depth as usize) < LIMITS.depth
    }

    /// Returns whether the reading may insert something at its offset.
    pub fn may_insert(&self, branch: &Branch) -> bool {
        branch.still < STILL || self.is_end(branch.at as usize)
    }

    /// Keeps a reading, unless there is a better one.
    pub fn admit(&mut self, branch: Branch) {
        if branch.is_refused() || self.state.ends.iter().any(|end| end.cost < branch.cost) {
            return;
        }
        if branch.phase == Phase::Done {
            self.state.queue.retain(|other| other.cost <= branch.cost);
            self.state.ends.retain(|other| other.cost <= branch.cost);
            self.state.ends.push(branch);
            return;
        }
        let better = |other: &Branch| other.at >= branch.at && other.cost + MARGIN < branch.cost;
        if self.state.queue.iter().any(better) {
            return;
        }
        let (text, types, inner) = (self.text, self.wanted.types(), &self.state.inner);
        let twin = self
            .state
            .queue
            .iter_mut()
            .find(|other| other.same_state(&branch));
        if let Some(other) = twin {
            if branch.cost < other.cost {
                *other = branch;
            } else if branch.cost == other.cost {
                let equal = |a, b| equal_events(text, types, inner, a, b);
                if !self.state.log.same_value(other.node, branch.node, equal) {
                    other.node = self.state.log.add(other.node, Event::Unsure(branch.at));
                }
            }
            return;
        }
        self.state.queue.push(branch);
        if self.state.queue.len() > WIDTH {
            let worst = (0..self.state.queue.len()).max_by_key(|index| {
                let branch = &self.state.queue[*index];
                (branch.cost, std::cmp::Reverse(branch.at))
            });
            if let Some(worst) = worst {
                self.state.queue.swap_remove(worst);
            }
        }
    }

    /// Takes out the reading with the lowest offset.
    pub fn take(&mut self) -> Option<Branch> {
        loop {
            let first = (0..self.state.queue.len()).min_by_key(|index| {
                let branch = &self.state.queue[*index];
                (branch.at, branch.cost)
            })?;
            let branch = self.state.queue.swap_remove(first);
            let better =
                |other: &Branch| other.at >= branch.at && other.cost + MARGIN < branch.cost;
            if !self.state.queue.iter().any(better) {
                return Some(branch);
            }
        }
    }
}

impl<H: Heap> Reader<'_, '_, H> {
    /// Keeps a reading that may be complete.
    pub(in crate::repair) fn proceed(&mut self, mut branch: Branch) {
        if branch.phase == Phase::Done {
            if self.is_first_of_many(&branch) {
                return;
            }
            match self.leftover(&branch, branch.still == 0) {
                Some(cost) => branch.cost += cost,
                None => return,
            }
        }
        self.admit(branch);
    }

    /// Returns whether the text of the value ends here.
    pub(in crate::repair) fn is_end(&self, at: usize) -> bool {
        at >= self.text.len() || self.text[at..].starts_with(b"```")
    }

    /// Returns whether a list without brackets ends after an object and another object follows, as in
    /// JSON lines.
    fn is_first_of_many(&self, branch: &Branch) -> bool {
        let at = branch.at as usize;
        let next = skip_all_blanks(self.text, at);
        self.text.get(next) == Some(&b'{')
            && self.text[..at].ends_with(b"}")
            && self.state.log.last(branch.node) == Some(Event::Close(false))
    }

    /// Returns whether the text from an offset on closes more brackets than it opens.
    fn unopened(&self, from: usize) -> bool {
        let text = self.text;
        let all = self.state.unopened.get_or_init(|| {
            let mut all = vec![false; text.len()];
            let mut count = 0_usize;
            for (at, byte) in text.iter().enumerate().rev() {
                match byte {
                    b'}' | b']' => count += 1,
                    b'{' | b'[' => count = count.saturating_sub(1),
                    _ => {}
                }
                all[at] = count > 0;
            }
            all
        });
        all.get(from).copied().unwrap_or(false)
    }

    /// Returns the cost of ending the value here; `closed`: with its own bracket. `None` if the text
    /// after it looks like a part of the value.
    fn leftover(&self, branch: &Branch, closed: bool) -> Option<u32> {
        let text = self.text;
        let mut next = skip_all_blanks(text, branch.at as usize);
        let mut cost = 0;
        let first = next;
        for _ in 0..CLOSERS {
            match text.get(next) {
                Some(b'}' | b']') => next = skip_all_blanks(text, next + 1),
                _ => break,
            }
        }
        if next > first {
            cost += match closed {
                true => 2,
                false => 12,
            };
        }
        let lines = text[next..].len().min(TAIL);
        let tail = &text[next..next + lines];
        // The bracket may have been inserted too early: it comes later.
        let unopened = closed && !tail.is_empty() && self.unopened(next);
        let put_in = branch.faults & (1 << Fault::MissingClose as u32) != 0;
        let is_field = quote(text, next).is_some() && begins_field(text, next);
        if unopened && put_in || closed && is_field {
            return None;
        }
        if unopened {
            cost += UNOPENED;
        }
        let more = match tail.first() {
            None => 0,
            Some(b'`') if self.is_end(next) => 0,
            // `const x = {…};`
            Some(b';') if closed && self.is_end(skip_all_blanks(text, next + 1)) => 0,
            Some(b',') if closed && is_prose(&tail[1..]) => 4,
            Some(b',' | b':' | b';' | b'=') => return None,
            Some(b'"' | b'0'..=b'9') if closed => 14,
            Some(_) if closed => 0,
            Some(_) if tail.iter().any(|byte| b"\"{}[]".contains(byte)) => return None,
            Some(_) => 3,
        };
        Some(cost + more)
    }
}

/// Maximum number of superfluous closing brackets that are skipped at once.
const CLOSERS: usize = 256;
/// Maximum length of the text after the value that is examined.
const TAIL: usize = 200;
/// Cost if the text after the value closes brackets that it does not open.
const UNOPENED: u32 = 12;

/// Returns whether the text begins with words.
fn is_prose(tail: &[u8]) -> bool {
    let tail = tail.trim_ascii_start();
    let word = tail
        .iter()
        .take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_');
    let word = word.count();
    let after = tail[word..].trim_ascii_start().first();
    word > 0 && !tail[0].is_ascii_digit() && !matches!(after, Some(b':' | b'"' | b'=' | b'\''))
}
