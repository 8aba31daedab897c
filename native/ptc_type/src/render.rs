//! Renderer from types to text, in the style with bare names and commas.

use super::types::{Fields, Signature, Type, TypeId, Types};
use super::Scalar;
use ptc_term::names::lisp_key;

/// How the names of map fields are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyStyle {
    /// As they were declared.
    Declared,
    /// As Lisp programs read them, see [`lisp_key`].
    Lisp,
}

/// The text would exceed its length limit: a small table with shared parts can represent a huge type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLong;

/// `-> TYPE` or `(name TYPE, …) -> TYPE`.
pub fn render_signature(
    signature: &Signature,
    style: KeyStyle,
    limit: usize,
) -> Result<Vec<u8>, TooLong> {
    let mut writer = Writer::new(&signature.types, style, limit);
    if signature.params.count > 0 {
        writer.out.push(b'(');
        for (index, param) in signature.types.fields(signature.params).enumerate() {
            if index > 0 {
                writer.out.extend_from_slice(b", ");
            }
            writer.out.extend_from_slice(param.name);
            writer.out.push(b' ');
            writer.write(param.holds)?;
        }
        writer.out.extend_from_slice(b") ");
    }
    writer.out.extend_from_slice(b"-> ");
    writer.write(signature.returns)?;
    Ok(writer.out)
}

/// Renders one type. A term that is not a type gives an empty text.
pub fn render_type(
    types: &Types,
    id: TypeId,
    style: KeyStyle,
    limit: usize,
) -> Result<Vec<u8>, TooLong> {
    let mut writer = Writer::new(types, style, limit);
    writer.write(id)?;
    Ok(writer.out)
}

/// A remaining step of the renderer.
enum RenderStep {
    Type(TypeId),
    Byte(u8),
    /// The remaining fields of a map, and whether a field precedes them.
    Fields(Fields, bool),
}

struct Writer<'t> {
    types: &'t Types,
    style: KeyStyle,
    limit: usize,
    out: Vec<u8>,
    steps: Vec<RenderStep>,
}

impl<'t> Writer<'t> {
    fn new(types: &'t Types, style: KeyStyle, limit: usize) -> Self {
        Writer {
            types,
            style,
            limit,
            out: Vec::with_capacity(128),
            steps: Vec::new(),
        }
    }

    fn write(&mut self, id: TypeId) -> Result<(), TooLong> {
        self.steps.push(RenderStep::Type(id));
        while let Some(step) = self.steps.pop() {
            match step {
                RenderStep::Type(id) => self.start(id),
                RenderStep::Byte(byte) => self.out.push(byte),
                RenderStep::Fields(fields, continued) => self.next_field(fields, continued),
            }
            if self.out.len() > self.limit {
                return Err(TooLong);
            }
        }
        Ok(())
    }

    fn start(&mut self, id: TypeId) {
        match self.types.get(id) {
            Type::Scalar(Scalar::Number) => self.out.extend_from_slice(b":float"),
            Type::Scalar(scalar) => {
                self.out.push(b':');
                self.out.extend_from_slice(scalar.name().as_bytes());
            }
            Type::Optional(inner) => {
                self.steps.push(RenderStep::Byte(b'?'));
                self.steps.push(RenderStep::Type(inner));
            }
            Type::List(inner) => {
                self.out.push(b'[');
                self.steps.push(RenderStep::Byte(b']'));
                self.steps.push(RenderStep::Type(inner));
            }
            Type::Map { fields, .. } => {
                self.out.push(b'{');
                self.steps.push(RenderStep::Fields(fields, false));
            }
            Type::OneOf(_) | Type::Ref(_) => self.out.extend_from_slice(b":any"),
            Type::Defs(of, _) => self.steps.push(RenderStep::Type(of)),
            Type::MapOf(_) => self.out.extend_from_slice(b":map"),
            Type::Where(of, _) => self.steps.push(RenderStep::Type(of)),
            Type::Unknown(_) => {}
        }
    }

    fn next_field(&mut self, fields: Fields, continued: bool) {
        if fields.count == 0 {
            return self.out.push(b'}');
        }
        if continued {
            self.out.extend_from_slice(b", ");
        }
        let field = self.types.field(fields.start as usize);
        match self.style {
            KeyStyle::Declared => self.out.extend_from_slice(field.name),
            KeyStyle::Lisp => self.out.extend(lisp_key(field.name)),
        }
        self.out.push(b' ');
        let rest = Fields {
            start: fields.start + 1,
            count: fields.count - 1,
        };
        self.steps.push(RenderStep::Fields(rest, true));
        self.steps.push(RenderStep::Type(field.holds));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_that_shares_its_parts_stops_at_the_limit() {
        let mut types = Types::new();
        let mut id = types.add(Type::Map {
            fields: Fields::default(),
            closed: false,
        });
        for _ in 0..64 {
            let pair = [b"a", b"b"].map(|name| crate::Field { name, holds: id });
            let fields = types.add_fields(pair.into_iter());
            id = types.add(Type::Map {
                fields,
                closed: true,
            });
        }
        let text = render_type(&types, id, KeyStyle::Declared, 1 << 16);
        assert_eq!(text, Err(TooLong));
    }
}
