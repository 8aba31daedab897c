//! The search: strict reading while the text is correct, one continuation at no cost; all likely readings around a fault.

use crate::repair::policy::Fault;
use crate::repair::reader::Reader;
use crate::repair::readings::{Bracket, Branch, Event, Phase, Recent, Span};
use crate::repair::text::{comment, ellipsis, is_delimiter, skip_all_blanks, skip_blanks};
use crate::repair::Stop;
use ptc_json::grammar::{escape, number, string, token, Place, Token, Word};
use ptc_term::heap::Heap;
use ptc_type::Json;

impl<H: Heap> Reader<'_, '_, H> {
    /// Begins a search.
    pub fn begin_search(&mut self, starts: &[Branch]) {
        self.state.queue.clear();
        self.state.ends.clear();
        let kept = starts.iter().filter(|start| !start.is_refused());
        self.state.queue.extend(kept);
        self.state.horizon = 0;
        self.state.straight = true;
        self.state.running = None;
    }

    /// Advances the readings until none is left; the best ones are among the ends. It can be suspended
    /// and resumed.
    pub fn search(&mut self) -> Result<(), Stop> {
        loop {
            if let Some((branch, recent)) = self.state.running.take() {
                self.run(branch, recent)?;
            }
            self.suspend_if_due()?;
            let Some(branch) = self.take() else {
                return Ok(());
            };
            self.check_memory()?;
            let alone = self.state.queue.is_empty() && self.state.ends.is_empty();
            let certain = self.state.straight || branch.at > self.state.horizon;
            if alone && certain && branch.phase != Phase::Within {
                self.state.straight = false;
                self.run(branch, Recent::new())?;
            } else {
                self.consume_fuel(16)?;
                self.expand(branch)?;
            }
        }
    }

    /// Reads strictly, up to the end or to an error. The fault may begin before the error, so the
    /// reading restarts at an earlier offset.
    fn run(&mut self, mut branch: Branch, mut recent: Recent) -> Result<(), Stop> {
        loop {
            if let Err(stop) = self.suspend_if_due() {
                self.state.running = Some((branch, recent));
                return Err(stop);
            }
            let before = branch.at as usize;
            let is_string = matches!(
                branch.phase,
                Phase::First | Phase::Item | Phase::Member | Phase::FirstKey | Phase::NextKey
            ) && !matches!(self.byte(before), b'{' | b'[');
            if is_string {
                recent.add(&branch);
            }
            if !self.strict(&mut branch) {
                break;
            }
            branch.still = 0;
            self.consume_fuel(branch.at as usize - before)?;
            if self.state.log.len().is_multiple_of(1024) {
                self.check_memory()?;
            }
            if branch.phase == Phase::Done {
                self.proceed(branch);
                return Ok(());
            }
        }
        self.state.horizon = branch.at;
        let from = self.doubtful(&recent, &branch);
        self.state.queue.push(from);
        Ok(())
    }

    /// Returns the state to restart from: the first string that may contain too much, or that may have
    /// ended too early.
    fn doubtful(&self, recent: &Recent, branch: &Branch) -> Branch {
        let mut last = None;
        let byte = self.byte(branch.at as usize);
        let number = match branch.phase {
            Phase::NextKey | Phase::Item => byte.is_ascii_digit(),
            Phase::After => byte.is_ascii_alphabetic() || matches!(byte, b'%' | b'$'),
            _ => false,
        };
        for before in recent.iter() {
            let at = skip_blanks(self.text, before.at as usize);
            if number && at < branch.at as usize {
                // `1,234`, `100 km/h"`
                last = Some(before);
            }
            if self.byte(at) != b'"' || at >= branch.at as usize {
                continue;
            }
            if let Some((end, _)) = self.strict_string(at + 1) {
                if is_suspicious(&self.text[at + 1..end]) {
                    return *before;
                }
                let next = skip_blanks(self.text, end + 1);
                if next == branch.at as usize || branch.phase == Phase::Colon {
                    last = Some(before);
                }
            }
        }
        *last.unwrap_or(branch)
    }

    /// Advances a reading in all likely ways.
    fn expand(&mut self, mut branch: Branch) -> Result<(), Stop> {
        if branch.phase == Phase::Within {
            return self.within(branch);
        }
        self.skip(&mut branch)?;
        match branch.phase {
            Phase::FirstKey | Phase::NextKey => self.keys(branch),
            Phase::Colon => self.colons(branch),
            Phase::First | Phase::Item | Phase::Member => self.values(branch),
            Phase::After => self.after(branch),
            Phase::Within | Phase::Done => Ok(()),
        }
    }

    /// Returns whether a number or a word ends at an offset: `5//2` is a calculation.
    fn is_after_word(&self, at: usize) -> bool {
        let before = at.checked_sub(1).map(|before| self.byte(before));
        before.is_some_and(|byte| byte.is_ascii_alphanumeric())
            && !self.text[at..].starts_with(b"/*")
    }

    /// Skips blanks, comments and ellipses.
    fn skip(&mut self, branch: &mut Branch) -> Result<(), Stop> {
        loop {
            let start = branch.at as usize;
            let at = skip_all_blanks(self.text, start);
            self.consume_fuel(at - start)?;
            branch.at = at as u32;
            if at > start {
                branch.still = 0;
            }
            let after_word = at == start && branch.phase == Phase::After && self.is_after_word(at);
            if let Some(end) = comment(self.text, at).filter(|_| !after_word) {
                self.repair(branch, Fault::Comment, at, end);
                branch.at = end as u32;
                self.consume_fuel(end - at)?;
                continue;
            }
            let may_be_left_out = !matches!(branch.phase, Phase::Member | Phase::Colon);
            match ellipsis(self.text, at) {
                Some(end) if may_be_left_out => {
                    self.repair(branch, Fault::Ellipsis, at, end);
                    branch.at = end as u32;
                    // In `, ...,` one comma is superfluous.
                    let next = skip_all_blanks(self.text, end);
                    let again = matches!(
                        branch.phase,
                        Phase::Item | Phase::NextKey | Phase::First | Phase::FirstKey
                    );
                    if again && self.byte(next) == b',' {
                        branch.at = next as u32 + 1;
                    }
                }
                _ => return Ok(()),
            }
        }
    }
}

/// Returns whether a string contains characters that also occur between strings.
pub(in crate::repair) fn is_suspicious(content: &[u8]) -> bool {
    let structure = |byte: &u8| matches!(byte, b',' | b':' | b'{' | b'}' | b'[' | b']' | b'=');
    content.iter().any(structure)
}

impl<H: Heap> Reader<'_, '_, H> {
    /// Reads the next token if it is valid here; otherwise only skips blanks.
    #[inline]
    pub(in crate::repair) fn strict(&mut self, branch: &mut Branch) -> bool {
        let at = skip_blanks(self.text, branch.at as usize);
        branch.at = at as u32;
        let Some(&byte) = self.text.get(at) else {
            return false;
        };
        let token = branch
            .phase
            .place()
            .and_then(|place| token(place, branch.top.inside(), byte));
        match token {
            Some(Token::Comma) => {
                branch.at += 1;
                branch.expect_entry();
                true
            }
            Some(Token::Close) => {
                let complete = self.is_complete(&branch.top);
                if complete {
                    branch.at += 1;
                    self.close(branch);
                }
                complete
            }
            Some(Token::Key) => self.strict_key(branch),
            Some(Token::Colon) => {
                branch.at += 1;
                branch.phase = Phase::Member;
                true
            }
            Some(token) => self.strict_value(branch, token),
            None => false,
        }
    }

    fn strict_key(&mut self, branch: &mut Branch) -> bool {
        let start = branch.at as usize + 1;
        let Some((end, escapes)) = self.strict_string(start) else {
            return false;
        };
        if self.byte(skip_blanks(self.text, end + 1)) != b':' {
            return false;
        }
        let span = Span::new(start, end);
        let ty = match self.types().map(branch.top.ty) {
            Some(_) if escapes => return false,
            Some((fields, _)) => {
                let (types, key) = (self.types(), span.of(self.text));
                let Some(index) = types.named(fields, key, branch.top.hint as usize) else {
                    return false;
                };
                let bit = fields.bit(index);
                if branch.top.seen & bit != 0 || !self.wanted.is_right(fields, index, key) {
                    return false;
                }
                branch.top.seen |= bit;
                branch.top.hint = index as u32 + 1;
                types.holds(index)
            }
            None => self.types().of_any_key(branch.top.ty),
        };
        self.event(branch, Event::key(span, escapes));
        branch.ty = ty;
        branch.phase = Phase::Colon;
        branch.at = end as u32 + 1;
        true
    }

    fn strict_value(&mut self, branch: &mut Branch, token: Token) -> bool {
        let at = branch.at as usize;
        match token {
            Token::Open(object) if self.is_shallow(branch) => {
                let kind = match object {
                    true => Bracket::Object,
                    // `[draft] plan"`
                    _ if self.types().is_any(branch.ty) && self.is_word(at + 1) => return false,
                    _ => Bracket::Array,
                };
                let inside = self.types().inside(branch.ty, object);
                if let Some(inside) = inside {
                    branch.at += 1;
                    self.open(branch, kind, inside);
                }
                inside.is_some()
            }
            Token::String => {
                let Some((end, escapes)) = self.strict_string(at + 1) else {
                    return false;
                };
                if !self.goes_on(branch, end + 1) {
                    return false;
                }
                let span = Span::new(at + 1, end);
                let fits = self.types().takes_string(branch.ty, span.of(self.text));
                if fits {
                    self.strict_scalar(branch, Event::string(span, escapes), end + 1);
                }
                fits
            }
            Token::Number => {
                let Some((end, integer)) = number(self.text, at) else {
                    return false;
                };
                let fits = self.types().takes(branch.ty, Json::number(integer));
                if !fits || !is_delimiter(self.text, end) || !self.is_in_range(at, end, integer) {
                    return false;
                }
                let span = Span::new(at, end);
                self.strict_scalar(branch, Event::Number(span), end);
                true
            }
            Token::Word(word) => self.strict_word(branch, word),
            _ => false,
        }
    }

    fn strict_word(&mut self, branch: &mut Branch, word: Word) -> bool {
        let at = branch.at as usize;
        let end = at + word.letters().len();
        if !self.text[at..].starts_with(word.letters()) || !is_delimiter(self.text, end) {
            return false;
        }
        let fits = self.word_fits(branch, word);
        if fits {
            self.strict_scalar(branch, Event::word(word), end);
        }
        fits
    }

    /// Returns whether `true`, `false` or `null` is of the wanted type.
    pub(in crate::repair) fn word_fits(&self, branch: &Branch, word: Word) -> bool {
        let json = match word {
            Word::Null => Json::Null,
            _ => Json::Bool,
        };
        self.types().takes(branch.ty, json)
    }

    fn strict_scalar(&mut self, branch: &mut Branch, event: Event, end: usize) {
        self.judge_by_rules(branch, event);
        self.event(branch, event);
        branch.at = end as u32;
        self.after_value(branch);
    }
}

impl<H: Heap> Reader<'_, '_, H> {
    /// Returns whether the text after a value is valid there.
    pub(in crate::repair) fn goes_on(&self, branch: &Branch, at: usize) -> bool {
        let next = self.text.get(skip_blanks(self.text, at));
        let follows = |byte: &u8| token(Place::After, branch.top.inside(), *byte).is_some();
        branch.top.kind == Bracket::Top || next.is_some_and(follows)
    }

    /// Returns the end of a string, and whether it has escapes; `None` if it is invalid.
    #[inline]
    pub(in crate::repair) fn strict_string(&self, start: usize) -> Option<(usize, bool)> {
        let (mut at, mut escapes) = (start, false);
        let end = string(self.text, &mut at, |at| {
            escapes = true;
            Ok(escape(self.text, at)?.1)
        });
        end.ok().map(|()| (at, escapes))
    }

    /// Returns whether a word that is not JSON begins at an offset.
    pub(in crate::repair) fn is_word(&self, at: usize) -> bool {
        let at = skip_blanks(self.text, at);
        let rest = &self.text[at.min(self.text.len())..];
        let known = [Word::True, Word::False, Word::Null]
            .iter()
            .any(|word| rest.starts_with(word.letters()));
        rest.first().is_some_and(u8::is_ascii_alphabetic) && !known
    }

    /// Returns whether a number is in range: integers have a size limit, and floats must be finite.
    pub(in crate::repair) fn is_in_range(&self, start: usize, end: usize, integer: bool) -> bool {
        match integer {
            true => end - start <= crate::LIMITS.integer,
            // Only an exponent, or very many digits, can make a float infinite.
            false
                if end - start < 300
                    && !self.text[start..end].iter().any(|byte| byte | 32 == b'e') =>
            {
                true
            }
            false => {
                let token = std::str::from_utf8(&self.text[start..end]).unwrap_or_default();
                token.parse().is_ok_and(f64::is_finite)
            }
        }
    }
}
