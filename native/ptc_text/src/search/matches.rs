//! The matches of a pattern in a text, one after the other.

use super::{next_boundary, Groups, Match, Search, Span, FEW};
use crate::pattern::Pattern;

/// The matches of a pattern in a text, from left to right without overlap: those of the `regex` crate's `find_iter`.
#[derive(Debug, Clone, Default)]
pub struct Matches {
    /// Where the search has begun, or begins.
    from: usize,
    /// The end of the match before, if there was one.
    last: Option<usize>,
    /// The match that has been found, and its groups as soon as they have.
    found: Option<(Span, Option<Groups>)>,
    /// The number of matches before it.
    count: usize,
    search: Search,
}

impl Matches {
    /// Returns the next match and its groups; the same again until it is [taken](Self::take). If `count` fails, the
    /// search goes on with the next call.
    pub fn next<E>(
        &mut self,
        pattern: &Pattern,
        text: &[u8],
        mut count: impl FnMut(usize) -> Result<(), E>,
    ) -> Result<Option<Match<'_>>, E> {
        let (search, many) = (&mut self.search, self.count >= FEW);
        while self.found.is_none() {
            if self.from > text.len() {
                return Ok(None);
            }
            match pattern.find(text, self.from, many, search, &mut count)? {
                // An empty match at the end of the one before does not count.
                Some((start, end)) if start == end && Some(end) == self.last => {
                    self.from = match end == text.len() {
                        true => text.len() + 1,
                        false => next_boundary(text, end),
                    };
                }
                Some(span) => self.found = Some((span, None)),
                None => self.from = text.len() + 1,
            }
        }
        let Some((span, groups)) = &mut self.found else {
            return Ok(None);
        };
        if groups.is_none() {
            *groups = Some(pattern.groups(text, *span, search, &mut count)?);
        }
        Ok(groups.as_deref().map(|groups| (*span, groups)))
    }

    /// Continues after the match that [`Self::next`] has returned.
    pub fn take(&mut self) {
        if let Some(((_, end), _)) = self.found.take() {
            (self.from, self.last) = (end, Some(end));
            self.count += 1;
        }
    }

    /// Ends the search, see [`Search::end`].
    pub fn end(&mut self, pattern: &Pattern) {
        self.search.end(pattern);
    }
}
