//! The value of an answer as far as it has come in.

use super::{Phase, Stream};
use crate::answer::read::{build, Answer};
use crate::heap::Heap;

impl Stream {
    /// The value as it would be if it ended here: open lists and objects are closed, a string is cut
    /// off, a key without its value and part of a number are left out. Nothing if no value has
    /// begun. Linear in the value. `text`: what came in; less of it is less of a value.
    pub fn partial<H: Heap>(&self, text: &[u8], heap: &mut H) -> Option<Answer<H::Term>> {
        if text.len() != self.taken {
            return self.again(text).partial(text, heap);
        }
        if self.lexer.whole == 0 || matches!(self.phase, Phase::Prose { .. } | Phase::Tag { .. }) {
            return None;
        }
        let whole = &text[self.start..self.lexer.whole];
        if let Some((begin, end)) = self.lexer.open_string(text.len()) {
            let cut = text[begin..end].utf8_chunks().next();
            let string = cut.map_or("", |chunk| chunk.valid());
            let mut shown = text[self.start..begin].to_vec();
            shown.extend_from_slice(string.as_bytes());
            shown.push(b'"');
            // A surrogate may wait for its other half: then the string is left out.
            if let Some(answer) = self.complete(shown, heap) {
                return Some(answer);
            }
        }
        self.complete(whole.to_vec(), heap)
    }

    fn complete<H: Heap>(&self, mut text: Vec<u8>, heap: &mut H) -> Option<Answer<H::Term>> {
        let closing = |object: &bool| if *object { b'}' } else { b']' };
        text.extend(self.lexer.open.iter().rev().map(closing));
        let (answer, _) = build(&text, 0, heap).ok()?;
        Some(answer)
    }
}
