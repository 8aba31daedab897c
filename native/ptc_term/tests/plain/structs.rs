//! Structs as on the BEAM: maps with the module's name under `:__struct__`.

use super::{PlainHeap, Term};
use crate::heap::{Heap, Lookup};
use crate::value::{Clock, Coefficient, Day, Form, Iso, Value};

impl PlainHeap {
    /// Makes a struct.
    pub fn structure(&mut self, module: &str, fields: &[(&str, Term)]) -> Term {
        let named = [("__struct__", self.atom(&format!("Elixir.{module}")))];
        let fields: Vec<_> = named.iter().chain(fields).copied().collect();
        let keys: Vec<_> = fields.iter().map(|(name, _)| self.atom(name)).collect();
        let values: Vec<_> = fields.iter().map(|(_, value)| *value).collect();
        self.make_map(&keys, &values)
    }

    pub(super) fn form_of(&self, map: Term) -> Form {
        match self.module(map) {
            None => Form::Plain,
            Some("Elixir.Ecto.Association.NotLoaded") => Form::Unloaded,
            Some(
                "Elixir.Date"
                | "Elixir.Time"
                | "Elixir.NaiveDateTime"
                | "Elixir.DateTime"
                | "Elixir.Decimal",
            ) => Form::Value,
            Some(_) => Form::Struct,
        }
    }

    pub(super) fn value_of(&self, term: Term) -> Value<Term> {
        self.parts_of(term).unwrap_or(Value::Opaque)
    }

    fn parts_of(&self, term: Term) -> Option<Value<Term>> {
        let module = self.module(term)?;
        if module == "Elixir.Decimal" {
            let coefficient = self.field(term, "coef")?;
            let coefficient = match self.atom_name(coefficient) {
                Some("NaN") => Coefficient::NotANumber,
                Some("inf") => Coefficient::Infinite,
                _ => Coefficient::Integer(coefficient),
            };
            return Some(Value::Decimal {
                negative: self.integer(term, "sign")? < 0,
                coefficient,
                exponent: self.integer(term, "exp")?,
            });
        }
        let calendar = self.field(term, "calendar")?;
        (self.atom_name(calendar)? == "Elixir.Calendar.ISO").then_some(())?;
        let day = || {
            Some(Day {
                year: self.integer(term, "year")?,
                month: self.integer(term, "month")?,
                day: self.integer(term, "day")?,
            })
        };
        let clock = || {
            let micro = self.field(term, "microsecond")?;
            let part = |index| self.small_integer(self.element(micro, index)?);
            Some(Clock {
                hour: self.integer(term, "hour")?,
                minute: self.integer(term, "minute")?,
                second: self.integer(term, "second")?,
                micro: part(0)?,
                digits: part(1)?,
            })
        };
        Some(Value::Iso(match module {
            "Elixir.Date" => Iso::Date(day()?),
            "Elixir.Time" => Iso::Time(clock()?),
            "Elixir.NaiveDateTime" => Iso::NaiveDateTime(day()?, clock()?),
            _ => {
                let offset =
                    self.integer(term, "utc_offset")? + self.integer(term, "std_offset")?;
                Iso::DateTime(day()?, clock()?, offset)
            }
        }))
    }

    fn field(&self, map: Term, name: &str) -> Option<Term> {
        let name = *self.atoms.get(name.as_bytes())?;
        match self.lookup(map, name, &mut 0) {
            Lookup::Found(value) => Some(value),
            _ => None,
        }
    }

    fn integer(&self, map: Term, name: &str) -> Option<i64> {
        self.small_integer(self.field(map, name)?)
    }
}
