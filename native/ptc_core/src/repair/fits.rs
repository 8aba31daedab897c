//! Type check of a value, event by event.

use super::unescape::unescape;
use super::wanted::{is_keyword, Found, Of, Ty, Wanted, ANY};
use crate::answer::LIMITS;
use crate::json::{Extent, Reader, Sink, Text};
use crate::stop::Stop;

/// Returns the content of a string as JSON if the whole content is JSON of the type.
pub(super) fn json_within(content: &[u8], wanted: &Wanted, ty: Ty) -> Option<Vec<u8>> {
    let trimmed = content.trim_ascii();
    let (first, last) = (trimmed.first()?, trimmed.last()?);
    if !matches!((first, last), (b'{', b'}') | (b'[', b']')) {
        return None;
    }
    let mut text = Vec::with_capacity(trimmed.len());
    unescape(trimmed, &mut text);
    let mut fits = Fits::new(wanted, ty);
    let mut reader = Reader::new(0, Extent::Whole, LIMITS);
    reader.read(&text, &mut fits).ok()?;
    fits.fits().then_some(text)
}

/// A sink that checks the events of a value.
pub struct Fits<'w> {
    wanted: &'w Wanted,
    ty: Ty,
    open: Vec<FitFrame>,
    fits: bool,
}

struct FitFrame {
    /// The type of an object; for a list, the type of its elements.
    ty: Ty,
    object: bool,
    seen: Vec<bool>,
    /// The field that is probably next.
    hint: usize,
}

impl<'w> Fits<'w> {
    /// Creates a check before the first event.
    pub fn new(wanted: &'w Wanted, ty: Ty) -> Self {
        Fits {
            wanted,
            ty,
            open: Vec::new(),
            fits: true,
        }
    }

    /// Returns whether all events so far fit the type.
    pub fn fits(&self) -> bool {
        self.fits
    }

    fn next(&mut self) -> Of {
        self.wanted.want(self.next_type()).of
    }

    fn next_type(&self) -> Ty {
        match self.open.last() {
            Some(frame) if !frame.object => frame.ty,
            _ => self.ty,
        }
    }

    fn check(&mut self, right: bool) {
        self.fits &= right;
    }
}

impl<'n> Sink<'n> for Fits<'_> {
    fn null(&mut self) {
        let want = self.wanted.want(self.next_type());
        self.check(want.nullable);
    }

    fn boolean(&mut self, _value: bool) {
        let of = self.next();
        self.check(matches!(of, Of::Any | Of::Bool | Of::Keyword));
    }

    fn integer(&mut self, _value: i64) {
        let of = self.next();
        self.check(matches!(of, Of::Any | Of::Int | Of::Float));
    }

    fn big_integer(&mut self, _digits: &'n str) -> Result<(), Stop> {
        self.integer(0);
        Ok(())
    }

    fn float(&mut self, _value: f64) {
        let of = self.next();
        self.check(matches!(of, Of::Any | Of::Float));
    }

    fn string(&mut self, text: Text<'n, '_>) -> Result<(), Stop> {
        let right = match self.next() {
            Of::Any | Of::String => true,
            Of::Keyword => is_keyword(text.bytes()),
            _ => false,
        };
        self.check(right);
        Ok(())
    }

    fn key(&mut self, text: Text<'n, '_>) -> Result<(), Stop> {
        self.ty = ANY;
        let Some(frame) = self.open.last_mut() else {
            return Ok(());
        };
        if let Of::Map(shape) = self.wanted.want(frame.ty).of {
            let shape = self.wanted.shape(shape);
            match shape.find(text.bytes(), frame.hint) {
                // Of repeated keys the first one counts.
                Found::Field(index) if !frame.seen[index] => {
                    frame.seen[index] = true;
                    frame.hint = index + 1;
                    self.ty = shape.fields[index].ty;
                }
                Found::Field(_) => {}
                Found::Spelled(_) | Found::Unknown => self.fits &= !shape.closed,
            }
        }
        Ok(())
    }

    fn open(&mut self, object: bool) {
        let ty = self.next_type();
        let mut seen = 0;
        let (right, ty) = match (self.wanted.want(ty).of, object) {
            (Of::Any, _) | (Of::AnyMap, true) => (true, ANY),
            (Of::List(holds), false) => (true, holds),
            (Of::Map(shape), true) => {
                seen = self.wanted.shape(shape).fields.len();
                (true, ty)
            }
            _ => (false, ANY),
        };
        self.check(right);
        let seen = vec![false; seen];
        self.open.push(FitFrame {
            ty,
            object,
            seen,
            hint: 0,
        });
    }

    fn close(&mut self, _object: bool) -> Result<(), Stop> {
        let Some(frame) = self.open.pop() else {
            return Ok(());
        };
        if let (Of::Map(shape), true) = (self.wanted.want(frame.ty).of, frame.object) {
            let shape = self.wanted.shape(shape);
            let complete =
                (0..shape.fields.len()).all(|index| frame.seen[index] || !shape.is_required(index));
            self.check(complete);
        }
        Ok(())
    }

    // The fuel was counted when the text was read.
    fn spend(&mut self, _bytes: usize, _held: usize) -> Result<(), Stop> {
        Ok(())
    }

    fn count(&mut self, _bytes: usize) -> Result<(), Stop> {
        Ok(())
    }
}
