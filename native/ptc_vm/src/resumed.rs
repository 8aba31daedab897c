//! What a run that waits for a value is resumed with.

/// What the value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueKind {
    /// The answer to the run's call.
    Answer,
    /// The same, for a run that has moved to the process of its tools.
    Moved,
    /// For a run that has moved, the answers to the call at which it waits and to those that follow, as a list: see
    /// [`Vm::only_collects`](crate::Vm::only_collects).
    MovedAll,
    /// The same, for a run that stays with its caller.
    Answers,
    /// The text of the error of the call's tool, which the program may catch.
    Failed,
    /// The same, for a run that has moved to the process of its tools.
    FailedMoved,
    /// The value of the loop at whose start the run was suspended.
    Joined,
    /// The name of the call's tool and the JSON text that it has answered, which the run may refuse to read in place.
    Text,
    /// The same, for a run that has moved to the process of its tools.
    TextMoved,
}

impl ValueKind {
    /// Returns whether the run has moved to the process of its tools.
    pub fn has_moved(self) -> bool {
        matches!(
            self,
            Self::Moved | Self::MovedAll | Self::FailedMoved | Self::TextMoved
        )
    }

    /// Returns whether the tool has failed.
    pub fn is_failure(self) -> bool {
        matches!(self, Self::Failed | Self::FailedMoved)
    }

    /// Returns whether it is a text that is not decoded.
    pub fn is_text(self) -> bool {
        matches!(self, Self::Text | Self::TextMoved)
    }
}
