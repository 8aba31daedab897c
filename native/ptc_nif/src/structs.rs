//! Structs where they are read as values: which module a map is of, and the parts of a value.

use crate::atoms;
use crate::heap::Beam;
use crate::map_view::{view, MapView};
use crate::raw::{Raw, TermKind, Terms};
use ptc_term::heap::{Heap, Kind};
use ptc_term::value::{Clock, Coefficient, Day, Form, Iso, Value};
use rustler::sys::ErlNifTerm;
use rustler::types::atom::Atom;
use rustler::Encoder;
use std::cell::{Cell, OnceCell};

rustler::atoms! {
    struct_ = "__struct__",
    meta = "__meta__",
    decimal = "Elixir.Decimal",
    not_loaded = "Elixir.Ecto.Association.NotLoaded",
    iso = "Elixir.Calendar.ISO",
    calendar,
    year,
    month,
    day,
    hour,
    minute,
    second,
    microsecond,
    utc_offset,
    std_offset,
    sign,
    coef,
    exp,
    infinity = "inf",
    not_a_number = "NaN",
}

/// The words of the atoms that tell structs apart.
struct Words {
    key: ErlNifTerm,
    meta: ErlNifTerm,
    not_loaded: ErlNifTerm,
    /// Of `Date`, `Time`, `NaiveDateTime`, `DateTime` and `Decimal`.
    values: [ErlNifTerm; 5],
}

/// What one NIF call knows about structs; nothing until it meets the first map.
#[derive(Default)]
pub struct Structs {
    words: OnceCell<Words>,
    /// The address of the keys of the last small map that is not a struct, 0 at first.
    plain: Cell<usize>,
}

impl Structs {
    fn words(&self, terms: Terms) -> &Words {
        let word = |atom: Atom| Raw::from(atom.encode(terms.env)).word();
        self.words.get_or_init(|| Words {
            key: word(struct_()),
            meta: word(meta()),
            not_loaded: word(not_loaded()),
            values: {
                use atoms::*;
                [date(), time(), naive_date_time(), date_time(), decimal()].map(word)
            },
        })
    }

    pub fn is_hidden(&self, terms: Terms, key: Raw) -> bool {
        let words = self.words(terms);
        key.word() == words.key || key.word() == words.meta
    }

    /// The module of a struct.
    fn module<'a>(&self, heap: &Beam<'a>, map: Raw<'a>) -> Option<Raw<'a>> {
        let key = self.words(heap.terms).key;
        let module = match view(heap.terms, map) {
            MapView::Flat(flat) => {
                let address = flat.keys.as_ptr() as usize;
                if address == self.plain.get() {
                    return None;
                }
                match flat.keys.iter().position(|other| other.word() == key) {
                    Some(place) => flat.values[place],
                    None => {
                        self.plain.set(address);
                        return None;
                    }
                }
            }
            MapView::Large => {
                let key = Raw::from(struct_().encode(heap.terms.env));
                heap.terms.map_get(map, key)?
            }
            MapView::NotAMap => return None,
        };
        // `nil`, `true` and `false` are no modules.
        let kind = heap.terms.kind(module);
        let is_atom = matches!(kind, TermKind::Atom);
        (is_atom && heap.kind(module) == Kind::Other).then_some(module)
    }

    pub fn form<'a>(&self, heap: &Beam<'a>, map: Raw<'a>) -> Form {
        let Some(module) = self.module(heap, map) else {
            return Form::Plain;
        };
        let (words, module) = (self.words(heap.terms), module.word());
        match module {
            _ if words.values.contains(&module) => Form::Value,
            _ if module == words.not_loaded => Form::Unloaded,
            _ => Form::Struct,
        }
    }

    pub fn value<'a>(&self, heap: &Beam<'a>, map: Raw<'a>) -> Value<Raw<'a>> {
        self.parts(heap, map).unwrap_or(Value::Opaque)
    }

    /// The parts of a value; `None` for another calendar, and for fields of another kind.
    fn parts<'a>(&self, heap: &Beam<'a>, map: Raw<'a>) -> Option<Value<Raw<'a>>> {
        let module = self.module(heap, map)?.word();
        let [date, time, naive, _, decimal] = self.words(heap.terms).values;
        let field = FieldsOfStruct { heap, map };
        if module == decimal {
            return field.decimal();
        }
        let is_iso = field.get(calendar())?.word() == field.atom(iso()).word();
        is_iso.then_some(())?;
        Some(Value::Iso(match module {
            _ if module == date => Iso::Date(field.day()?),
            _ if module == time => Iso::Time(field.clock()?),
            _ if module == naive => Iso::NaiveDateTime(field.day()?, field.clock()?),
            _ => {
                let offset = field.integer(utc_offset())?;
                let offset = offset.checked_add(field.integer(std_offset())?)?;
                Iso::DateTime(field.day()?, field.clock()?, offset)
            }
        }))
    }
}

/// The fields of a value.
struct FieldsOfStruct<'h, 'a> {
    heap: &'h Beam<'a>,
    map: Raw<'a>,
}

impl<'a> FieldsOfStruct<'_, 'a> {
    fn atom(&self, atom: Atom) -> Raw<'a> {
        Raw::from(atom.encode(self.heap.terms.env))
    }

    fn get(&self, name: Atom) -> Option<Raw<'a>> {
        let name = self.atom(name);
        match view(self.heap.terms, self.map) {
            MapView::Flat(flat) => {
                let mut keys = flat.keys.iter();
                let place = keys.position(|key| key.word() == name.word())?;
                Some(flat.values[place])
            }
            _ => self.heap.terms.map_get(self.map, name),
        }
    }

    fn integer(&self, name: Atom) -> Option<i64> {
        self.heap.small_integer(self.get(name)?)
    }

    fn day(&self) -> Option<Day> {
        Some(Day {
            year: self.integer(year())?,
            month: self.integer(month())?,
            day: self.integer(day())?,
        })
    }

    fn clock(&self) -> Option<Clock> {
        let micro = self.get(microsecond())?;
        let part = |index| self.heap.small_integer(self.heap.element(micro, index)?);
        Some(Clock {
            hour: self.integer(hour())?,
            minute: self.integer(minute())?,
            second: self.integer(second())?,
            micro: part(0)?,
            digits: part(1)?,
        })
    }

    fn decimal(&self) -> Option<Value<Raw<'a>>> {
        let coefficient = self.get(coef())?;
        let coefficient = match coefficient.word() {
            word if word == self.atom(infinity()).word() => Coefficient::Infinite,
            word if word == self.atom(not_a_number()).word() => Coefficient::NotANumber,
            _ if self.heap.kind(coefficient) != Kind::Number => return None,
            _ if self.heap.float(coefficient).is_some() => return None,
            _ => Coefficient::Integer(coefficient),
        };
        Some(Value::Decimal {
            negative: self.integer(sign())? < 0,
            coefficient,
            exponent: self.integer(exp())?,
        })
    }
}
