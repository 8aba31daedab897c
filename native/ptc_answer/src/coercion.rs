//! Coerces a value of an answer that does not have the requested type: its texts become numbers, for example.

use ptc_term::meter::{Limits, Meter, Pace};
use ptc_term::stop::Stop;
use ptc_type::{
    read, Coerce, LeftAt, LeftWalk, Purpose, QuantumClock, Read, ReadOptions, State, Values, Walk,
    WalkEnd,
};
use std::time::Instant;

/// The result of a coercion.
#[derive(Debug)]
pub enum Coerced<T> {
    /// A value of the type, and the warnings as a list of texts.
    Value(T, T),
    /// There is none.
    None,
    /// Only Elixir can tell.
    Unknown,
    /// The slice or the quantum is over; the coercion can be resumed in a quantum.
    Left(Box<LeftWalk<T>>),
    /// The coercion takes too long for a normal scheduler, and must begin again.
    Busy,
    /// The caller has ended.
    Stopped(Stop),
}

/// Coerces a value to a type, or goes on with that. The fuel is added to the meter. As in Elixir, the value has no limit of memory.
pub fn coerced<H: Values>(
    heap: &mut H,
    (value, of): (H::Term, H::Term),
    left: Option<LeftWalk<H::Term>>,
    meter: &mut Meter,
) -> Coerced<H::Term> {
    let pace = meter.pace();
    let begun = (pace == Pace::Quantum).then(Instant::now);
    let limits = Limits {
        words: usize::MAX,
        ..meter.limits
    };
    let (state, types) = match left {
        Some(LeftWalk {
            at: LeftAt::Coerce(state),
            types,
        }) => (state, types),
        Some(_) => return Coerced::Stopped(Stop::Abandoned),
        None => {
            let mut part = Meter::whole(limits, pace);
            let read = read(heap, of, ReadOptions::VALUES, &mut part);
            meter.absorb(&part);
            match read {
                Ok((Read { types, rules, .. }, id)) => {
                    let task = Coerce::new(Purpose::Coerce, None).of_json();
                    (State::new((value, id), task).ruled(rules), types)
                }
                Err(WalkEnd::Abandoned) => return Coerced::Stopped(Stop::DeadlinePassed),
                Err(_) => return Coerced::Busy,
            }
        }
    };
    let clock = QuantumClock::new(pace, begun, state.fuel());
    let mut walk = Walk::new(heap, &types, state, (Meter::new(limits, pace), pace));
    let outcome = clock.run(&mut walk);
    meter.absorb(walk.meter());
    match outcome {
        Err(WalkEnd::SliceOver) => {
            let at = LeftAt::Coerce(walk.into_state().0);
            Coerced::Left(Box::new(LeftWalk { at, types }))
        }
        Err(WalkEnd::TooLong) => Coerced::Busy,
        Err(WalkEnd::Abandoned) => Coerced::Stopped(Stop::DeadlinePassed),
        Err(_) => Coerced::Unknown,
        Ok(_) if walk.state.task.asks() || types.has_doubles() => Coerced::Unknown,
        Ok(_) if walk.state.findings.count() > 0 => Coerced::None,
        Ok(changed) => {
            let warnings = walk.state.task.warnings.list(walk.heap);
            Coerced::Value(changed.unwrap_or(value), warnings)
        }
    }
}
