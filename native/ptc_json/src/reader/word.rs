//! Reading of `true`, `false` and `null`.

use super::{Cursor, Phase, ReadError, Sink};
use crate::grammar::Word;

impl<'t> Cursor<'_, 't> {
    /// Reads on in a word of which so many letters were `read`.
    #[inline(always)]
    pub(super) fn word<S: Sink<'t>>(
        &mut self,
        word: Word,
        read: usize,
        sink: &mut S,
    ) -> Result<Phase, ReadError> {
        let letters = &word.letters()[read..];
        if !self.text[self.reader.at..].starts_with(letters) {
            return Err(self.other_word::<S>(word, read));
        }
        self.reader.at += letters.len();
        match word {
            Word::True => sink.boolean(true),
            Word::False => sink.boolean(false),
            Word::Null => sink.null(),
        }
        Ok(Phase::After)
    }

    #[cold]
    fn other_word<S: Sink<'t>>(&mut self, word: Word, read: usize) -> ReadError {
        if !S::IN_CHUNKS {
            return self.unexpected().into();
        }
        let letters = word.letters()[read..].iter();
        let text = self.text[self.reader.at..].iter();
        let equal = letters.zip(text).take_while(|(a, b)| a == b).count();
        self.reader.at += equal;
        match self.reader.at == self.text.len() {
            true => self.end(Phase::Word(word, read + equal)),
            false => self.unexpected().into(),
        }
    }
}
