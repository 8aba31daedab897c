//! The interpreter: it visits the parts of a program, and hands their values to the operations around them.

use super::domain::{Domain, PartOf};
use super::order;
use super::part::{fields_of, operation_of, How, OpAt, Visited, What, ABSENT};
use super::stack::Frame;
use crate::compile::MOST_FIELDS;
use crate::edition::Edition;
use crate::opcode::OpCode;
use ptc_json::{Document, Entry, Node, Shape};

/// Begins with the root, whose current value is `input`.
pub(crate) fn begin<D: Domain>(domain: &mut D, source: &Document, input: D::Value) {
    let node = domain.stack().root;
    let part = order::part(node, How::Expr, "", input);
    enter(domain, source, &part);
}

/// Makes one step. Returns the value of the program when it has been visited.
pub(crate) fn step<D: Domain>(domain: &mut D, source: &Document) -> Option<D::Value> {
    if domain.stack().frames.is_empty() {
        return Some(domain.stack().last);
    }
    match order::next_part(domain, source) {
        Some(part) => visit(domain, source, &part),
        None => {
            let value = domain.value(source);
            let stack = domain.stack_mut();
            if let Some(frame) = stack.frames.last_mut() {
                let own = std::mem::take(&mut frame.own);
                stack.visited.truncate(frame.parts as usize);
                stack.frames.pop();
                take(domain, source, value, own);
            }
        }
    }
    None
}

fn visit<D: Domain>(domain: &mut D, source: &Document, part: &PartOf<D>) {
    let mut before = None;
    if let Some((name, value)) = part.bind {
        let value = domain.bound(name, value);
        let (bound, at) = (&mut domain.stack_mut().bound, name.0 as usize);
        if bound.len() <= at {
            bound.resize(at + 1, None);
        }
        before = bound[at].replace(value);
    }
    domain.enter(part);
    if let Some(frame) = domain.stack_mut().frames.last_mut() {
        (frame.now, frame.bound_before) = (*part, before);
    }
    enter(domain, source, part);
}

fn enter<D: Domain>(domain: &mut D, source: &Document, part: &PartOf<D>) {
    let (edition, parts) = (domain.stack().edition, domain.stack().visited.len() as u32);
    let what = match what::<D>(source, part.node, part.how, edition) {
        Ok(what) => what,
        Err(known) => {
            let value = match known {
                true => domain.constant(source, part.node, part.how),
                false => domain.nothing(),
            };
            return take(domain, source, value, D::Own::default());
        }
    };
    let mut frame = Frame {
        node: part.node,
        what,
        fields: [ABSENT; MOST_FIELDS],
        input: part.input,
        own_input: false,
        stage: 0,
        at: ABSENT,
        left: 0,
        then: ABSENT,
        parts,
        own: D::Own::default(),
        now: *part,
        bound_before: None,
    };
    if let What::Op(op, implicit) = what {
        let own;
        (frame.fields, own) = fields_of(edition, source, part.node, op, implicit);
        if let (Some(own), false, true) = (own, part.given, op.shape().sees_input()) {
            (frame.input, frame.own_input) = (domain.own_input(source, own), true);
        }
    }
    domain.begun(what);
    domain.stack_mut().frames.push(frame);
}

/// Hands the value of a part to the one around it.
fn take<D: Domain>(domain: &mut D, source: &Document, value: D::Value, own: D::Own) {
    let stack = domain.stack_mut();
    stack.last = value;
    let Some(frame) = stack.frames.last_mut() else {
        return domain.ended(own);
    };
    let (part, before) = (frame.now, frame.bound_before);
    if let Some((name, _)) = part.bind {
        stack.bound[name.0 as usize] = before;
    }
    if domain.after(source, &part, value, own) {
        domain.stack_mut().visited.push(Visited {
            field: part.field,
            key: part.key,
            value,
        });
    }
}

/// Returns what stands at a part; for one without parts that are visited, whether it is a constant.
fn what<D: Domain>(
    source: &Document,
    node: Node,
    how: How,
    edition: Edition,
) -> Result<What, bool> {
    let is_op = match (how, source.shape(node)) {
        (How::Expr | How::Operand, Shape::Map) => true,
        (How::Value, Shape::Map) => source.field(node, "op").is_some(),
        (How::Template, Shape::Map) => source
            .field(node, "op")
            .is_some_and(|it| source.shape(it) == Shape::String),
        _ => false,
    };
    if is_op {
        return match operation_of(source, node, edition) {
            OpAt::Is(op) => Ok(What::Op(op, false)),
            OpAt::Implicit => Ok(What::Op(OpCode::IMPLICIT_OBJECT, true)),
            OpAt::None => Err(false),
        };
    }
    if !matches!(source.entry(node), Entry::Object(..) | Entry::List(..)) {
        return Err(true);
    }
    match how {
        How::Template | How::Templates => Ok(What::Data(How::Template)),
        How::Values => Ok(What::Data(How::Value)),
        How::Constants => Ok(What::Data(How::Constant)),
        How::Constant | How::Value if D::OPENS_CONSTANTS => Ok(What::Data(How::Constant)),
        How::Constant | How::Value | How::Expr | How::Operand => Err(true),
    }
}
