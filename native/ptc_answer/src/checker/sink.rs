//! The events of the reader of whole texts, as those of a check.

use super::Checker;
use ptc_json::{Sink, Text};
use ptc_term::stop::Stop;
use ptc_type::Json;

impl<'n> Sink<'n> for Checker {
    fn null(&mut self) {
        self.value(Json::Null);
    }

    fn boolean(&mut self, _value: bool) {
        self.value(Json::Bool);
    }

    fn integer(&mut self, _value: i64) {
        self.value(Json::Integer);
        self.number_end();
    }

    fn big_integer(&mut self, _digits: &'n str) -> Result<(), Stop> {
        self.integer(0);
        Ok(())
    }

    fn float(&mut self, _value: f64) {
        self.value(Json::Integer);
        self.fraction();
    }

    fn string(&mut self, text: Text<'n, '_>) -> Result<(), Stop> {
        self.value(Json::String);
        self.content(text.bytes());
        Ok(())
    }

    fn key(&mut self, text: Text<'n, '_>) -> Result<(), Stop> {
        self.name(Some(text.bytes()));
        Ok(())
    }

    fn open(&mut self, object: bool) {
        self.value(if object { Json::Object } else { Json::Array });
    }

    fn close(&mut self, _object: bool) -> Result<(), Stop> {
        self.end();
        Ok(())
    }

    // The fuel was counted when the text was read.
    fn consume_fuel(&mut self, _bytes: usize, _held: usize) -> Result<(), Stop> {
        Ok(())
    }
}
