//! The value of a streamed answer so far.

use super::{Stream, StreamPhase};
use crate::read::{build, Answer};
use ptc_term::heap::Heap;

impl Stream {
    /// Returns the value as if it ended here: closes open lists and objects, truncates a string, and
    /// drops a key without a value and an incomplete number. Returns `None` if no value has begun.
    /// Linear in the value. `text`: the text received; a shorter one gives a smaller value.
    pub fn partial<H: Heap>(&self, text: &[u8], heap: &mut H) -> Option<Answer<H::Term>> {
        if text.len() != self.taken {
            return self.again(text).partial(text, heap);
        }
        if self.facts.whole == 0
            || matches!(
                self.phase,
                StreamPhase::Prose { .. } | StreamPhase::Tag { .. }
            )
        {
            return None;
        }
        let whole = &text[self.start..self.facts.whole];
        if let Some((begin, end)) = self.open_string() {
            let cut = text[begin..end].utf8_chunks().next();
            let string = cut.map_or("", |chunk| chunk.valid());
            let shown = &text[self.start..begin + string.len()];
            // A high surrogate may wait for the low one: then the string is dropped.
            if let Some(answer) = self.complete(shown, "\"", heap) {
                return Some(answer);
            }
        }
        self.complete(whole, "", heap)
    }

    /// Returns the range of the current string value so far, without a partial escape.
    fn open_string(&self) -> Option<(usize, usize)> {
        match (self.phase, &self.halted) {
            (StreamPhase::Json, None) => {
                let kept = self.taken - self.kept.len();
                Some((self.facts.string, kept + self.reader.open_string()?))
            }
            _ => None,
        }
    }

    fn complete<H: Heap>(&self, head: &[u8], quote: &str, heap: &mut H) -> Option<Answer<H::Term>> {
        let closing = |object: &bool| if *object { b'}' } else { b']' };
        // Allocated once: a text that grows byte by byte would be moved, under a lock of the allocator.
        let mut text = Vec::with_capacity(head.len() + quote.len() + self.reader.open().len());
        text.extend_from_slice(head);
        text.extend_from_slice(quote.as_bytes());
        text.extend(self.reader.open().iter().rev().map(closing));
        let (answer, _) = build(&text, 0, heap).ok()?;
        Some(answer)
    }
}
