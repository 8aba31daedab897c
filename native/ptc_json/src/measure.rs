//! The words that the value of a JSON text takes, counted without building it.

use super::keys::Keys;
use super::{Extent, JsonError, JsonLimits, ReadError, Reader, Sink, Text};
use ptc_term::digits::Digits;
use ptc_term::heap::{words_of_map, words_of_string, Heap, WORDS_OF_CELL, WORDS_OF_NUMBER};
use ptc_term::job::Job;
use ptc_term::meter::Meter;
use ptc_term::roots::room;
use ptc_term::stop::Stop;
use ptc_term::workspace::Workspace;

/// An integer of fewer bits takes no words beside the place where it stands.
const BITS_OF_SMALL: u32 = 59;
/// Longer strings are outside of the heap.
const SHORT: usize = 64;
/// The words of a reference to such a string, at most.
const WORDS_OF_LONG: usize = 8;

/// The words of a value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Words {
    /// As [`Heap::words_built`] counts them.
    pub built: usize,
    /// In the memory of the heap, about. The place of each item while its list is built is included.
    pub held: usize,
}

/// A text whose value is being counted. The words that are counted at any time are words of the value, so a value that takes at most
/// as many words as the limit is never refused. A text that is not JSON is found with memory for its open brackets only.
#[derive(Debug)]
pub struct Measuring {
    reader: Reader,
    counted: Counted,
}

/// What is counted so far.
#[derive(Debug, Default)]
struct Counted {
    words: Words,
    /// The number of keys of each open object.
    keys: Vec<u32>,
    /// The next value is an item of a list.
    is_item: bool,
}

/// Counts the words of events.
struct Counter<'w, 't, H: Heap> {
    work: Workspace<'w, H>,
    counted: &'w mut Counted,
    known: Keys<'t, ()>,
}

impl Measuring {
    /// Measures the value of a whole text.
    pub fn new(limits: JsonLimits) -> Self {
        Measuring {
            reader: Reader::new(0, Extent::Whole, limits),
            counted: Counted::default(),
        }
    }
}

impl<H: Heap> Job<H> for Measuring {
    type Out = Result<Words, JsonError>;

    fn step(&mut self, text: &[u8], heap: &mut H, meter: &mut Meter) -> Result<Self::Out, Stop> {
        let mut counter = Counter {
            work: Workspace::new(heap, meter),
            counted: &mut self.counted,
            known: Keys::new(),
        };
        match self.reader.read(text, &mut counter) {
            Ok(_) => {
                counter.check(0)?;
                Ok(Ok(self.counted.words))
            }
            Err(ReadError::Json(error)) => Ok(Err(error)),
            Err(ReadError::Stop(stop)) => Err(stop),
        }
    }
}

impl Counted {
    fn add(&mut self, built: usize, held: usize) {
        self.words.built += built;
        self.words.held += held;
    }

    /// A value begins. What stands after it is an item too, unless it is the value of a key.
    #[inline]
    fn value(&mut self, built: usize, held: usize) {
        let cell = match self.is_item {
            true => WORDS_OF_CELL,
            false => 0,
        };
        let place = usize::from(self.is_item);
        self.add(built + cell, held + cell + place);
        self.is_item = true;
    }

    fn string(&mut self, bytes: usize) {
        let held = match bytes {
            ..=SHORT => words_of_string(bytes),
            _ => WORDS_OF_LONG,
        };
        self.value(words_of_string(bytes), held);
    }
}

impl<H: Heap> Counter<'_, '_, H> {
    fn check(&self, more: usize) -> Result<(), Stop> {
        self.work.check_heap_limit(self.counted.words.built + more)
    }
}

impl<'t, H: Heap> Sink<'t> for Counter<'_, 't, H> {
    #[inline]
    fn null(&mut self) {
        self.counted.value(0, 0);
    }

    #[inline]
    fn boolean(&mut self, _value: bool) {
        self.counted.value(0, 0);
    }

    #[inline]
    fn integer(&mut self, value: i64) {
        let held = match value.unsigned_abs().leading_zeros() > u64::BITS - BITS_OF_SMALL {
            true => 0,
            false => WORDS_OF_NUMBER,
        };
        self.counted.value(WORDS_OF_NUMBER, held);
    }

    fn big_integer(&mut self, token: &'t str) -> Result<(), Stop> {
        let count = token.len() - usize::from(token.starts_with('-'));
        self.check(Digits::words(count))?;
        let words = Digits::least_words(count);
        self.counted.value(words, words);
        Ok(())
    }

    #[inline]
    fn float(&mut self, _value: f64) {
        self.counted.value(WORDS_OF_NUMBER, WORDS_OF_NUMBER);
    }

    #[inline]
    fn string(&mut self, text: Text<'t, '_>) -> Result<(), Stop> {
        self.counted.string(text.bytes().len());
        Ok(())
    }

    #[inline]
    fn key(&mut self, text: Text<'t, '_>) -> Result<(), Stop> {
        let mut is_new = true;
        if let Text::Source(bytes) = text {
            is_new = false;
            self.known.intern(bytes, || is_new = true);
        }
        let counted = &mut *self.counted;
        counted.is_item = false;
        if is_new {
            counted.string(text.bytes().len());
        }
        if let Some(keys) = counted.keys.last_mut() {
            let before = words_of_map(*keys as usize);
            *keys = keys.saturating_add(1);
            let words = words_of_map(*keys as usize) - before;
            counted.add(words, words);
        }
        counted.is_item = false;
        Ok(())
    }

    #[inline]
    fn open(&mut self, object: bool) {
        let words = if object { words_of_map(0) } else { 0 };
        self.counted.value(words, words);
        if object {
            self.counted.keys.push(0);
        }
    }

    #[inline]
    fn close(&mut self, object: bool) -> Result<(), Stop> {
        if object {
            self.counted.keys.pop();
        }
        self.counted.is_item = true;
        Ok(())
    }

    fn consume_fuel(&mut self, bytes: usize, held: usize) -> Result<(), Stop> {
        // A look that ends the slice checks the limit too: otherwise a text could be read to its end in slices that are over at once.
        self.check((held + room(&self.counted.keys) * size_of::<u32>()) / 8)?;
        self.work.consume_fuel_or_suspend(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Decoding;
    use ptc_term::meter::{Deadline, Limits, Pace};
    use ptc_term::plain::PlainHeap;

    const DEEP: JsonLimits = JsonLimits::depth(usize::MAX);

    fn meter(words: usize) -> Meter {
        let deadline = Deadline::Never;
        Meter::new(Limits { deadline, words }, Pace::Quantum)
    }

    fn measured(text: &str, words: usize) -> Result<Result<Words, JsonError>, Stop> {
        let (mut heap, mut meter) = (PlainHeap::new(), meter(words));
        let mut job = Measuring::new(DEEP);
        loop {
            match job.step(text.as_bytes(), &mut heap, &mut meter) {
                Err(Stop::SliceOver) => {}
                done => return done,
            }
        }
    }

    #[test]
    fn the_words_are_those_of_the_value() {
        for (text, built, held) in [
            ("1", 2, 0),
            ("true", 0, 0),
            ("1.5", 2, 2),
            ("9007199254740993000", 2, 2),
            ("123456789012345678901234567890", 3, 3),
            ("[]", 0, 0),
            ("[null, [], true]", 6, 9),
            (r#""abc""#, 3, 3),
            (r#"["\u00e4"]"#, 5, 6),
            (r#"{"a": 1, "b": [2]}"#, 8 + 6 + 2 + 4, 8 + 6 + 3),
            (r#"[{"a": 1}, {"a": 2}]"#, 4 + 12 + 3 + 4, 6 + 12 + 3),
        ] {
            assert_eq!(
                measured(text, usize::MAX),
                Ok(Ok(Words { built, held })),
                "{text}"
            );
        }
        let wide: Vec<_> = (0..40).map(|n| format!(r#""{n}": null"#)).collect();
        let wide = format!("{{{}}}", wide.join(","));
        let words = measured(&wide, usize::MAX).unwrap().unwrap();
        assert_eq!(words.built, 6 * 40 + 3 * 40);
    }

    /// Whatever the builder accepts fits, and what is measured within a limit is built within it, but for the places of items.
    #[test]
    fn what_can_be_built_is_never_refused() {
        let mut texts = vec![
            "[".repeat(50) + &"]".repeat(50),
            r#"{"a":[1,"#.repeat(30) + "2" + &"]}".repeat(30),
            format!(
                "[{}1]",
                r#"{"id": 12, "name": "some", "f": 1.25},"#.repeat(40)
            ),
            format!(r#"["{}", "b\n"]"#, "x".repeat(500)),
            format!("[{}1]", "123456789012345678901234567890,".repeat(30)),
            format!("[{}[]]", "[[1,2],[3.5,null]],".repeat(30)),
        ];
        texts.push(format!("{{\"all\": [{}]}}", texts.join(",")));
        for text in texts {
            let words = measured(&text, usize::MAX).unwrap().unwrap().built;
            for limit in (0..2 * words).step_by(1 + words / 40) {
                let mut heap = PlainHeap::new();
                let job = &mut Decoding::new(DEEP);
                let built = job.step(text.as_bytes(), &mut heap, &mut meter(limit));
                let fits = measured(&text, limit);
                if matches!(built, Ok(Ok(_))) {
                    assert!(matches!(fits, Ok(Ok(_))), "{limit} of {words}: {text}");
                }
                assert_eq!(fits.is_err(), words > limit, "{limit} of {words}: {text}");
            }
        }
    }

    #[test]
    fn errors_are_found_without_words() {
        for (text, at) in [("[1,,2]", 3), ("{\"a\" 1}", 5), ("[1] 2", 4)] {
            assert_eq!(
                measured(text, usize::MAX),
                Ok(Err(JsonError::UnexpectedToken(at)))
            );
        }
        let deep = "[".repeat(100_000);
        assert_eq!(
            measured(&deep, usize::MAX),
            Ok(Err(JsonError::UnexpectedEnd(100_000)))
        );
        assert_eq!(measured(&deep, 10_000), Err(Stop::MemoryExceeded));
    }
}
