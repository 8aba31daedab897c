//! What a run that waits for a value is resumed with.

/// What the value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueKind {
    /// The answer to the run's call.
    Answer,
    /// The answer to the call of a run that has moved to the process of its tools.
    Moved,
    /// For a run that has moved, the answers to the call at which it waits and to those that follow, as a list: see
    /// [`Vm::only_collects`](crate::Vm::only_collects).
    MovedAll,
    /// For a run that stays with its caller, the answers to the call at which it waits and to those that follow, as a list.
    Answers,
    /// The answer of a journal to the run's call. At the next call, those that follow it are looked for too.
    Replayed,
    /// The answers of a journal to the call at which the run waits and to those that follow, as a list.
    ReplayedAll,
    /// The text of the error of the call's tool, which the program may catch.
    Failed,
    /// The text of the error of the tool of a run that has moved to the process of its tools.
    FailedMoved,
    /// The value of the loop at whose start the run was suspended.
    Joined,
    /// Nothing: the run goes through the loop at whose start it was suspended, see [`State::in_turn`](crate::State::in_turn).
    InTurn,
    /// The name of the call's tool and the JSON text that it has answered, which the run may refuse to read in place.
    Text,
    /// The name and the JSON text of the call's tool, for a run that has moved to the process of its tools.
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

    /// Returns whether a journal has answered.
    pub fn is_replayed(self) -> bool {
        matches!(self, Self::Replayed | Self::ReplayedAll)
    }

    /// Returns whether it is a list of answers.
    pub fn is_list(self) -> bool {
        matches!(self, Self::MovedAll | Self::Answers | Self::ReplayedAll)
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
