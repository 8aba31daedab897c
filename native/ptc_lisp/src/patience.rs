//! How long the compilation of a program may go on.
//!
//! A program is compiled in one piece. So each of its loops asks now and then whether the deadline has passed.

/// Steps between two questions. A step is a form, an expression or an instruction: some ten nanoseconds.
const STEPS: u32 = 1_024;

/// Asks now and then whether the compilation must end.
pub struct Patience<'p> {
    /// Steps until the next question.
    left: u32,
    is_over: &'p mut dyn FnMut() -> bool,
    /// Whether the last answer was yes.
    has_ended: bool,
}

/// The compilation must end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutOfTime;

impl<'p> Patience<'p> {
    /// Asks this.
    pub fn new(is_over: &'p mut dyn FnMut() -> bool) -> Self {
        Patience {
            left: STEPS,
            is_over,
            has_ended: false,
        }
    }

    /// Counts a step.
    #[inline]
    pub fn step(&mut self) -> Result<(), OutOfTime> {
        self.left -= 1;
        match self.left {
            0 => self.ask(),
            _ => Ok(()),
        }
    }

    #[cold]
    fn ask(&mut self) -> Result<(), OutOfTime> {
        self.has_ended |= (self.is_over)();
        if self.has_ended {
            // Whoever goes on is told again at once.
            self.left = 1;
            return Err(OutOfTime);
        }
        self.left = STEPS;
        Ok(())
    }

    /// Returns whether the compilation must end: an answer of before.
    pub fn has_ended(&self) -> bool {
        self.has_ended
    }
}
