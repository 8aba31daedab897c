//! Which part of an operation is visited next: what the others depend on comes first.

use super::domain::{Domain, PartOf, Visiting};
use super::part::{How, NextPart, What, ABSENT};
use crate::compile::{names_input, INPUT_NAME};
use crate::edition::Edition;
use crate::ops::{Field, FieldKind};
use crate::shape::OpShape;
use ptc_json::{Document, Entry, Node, Shape};

/// A part that is evaluated once.
pub(super) fn part<V: Copy, H: Default>(
    node: Node,
    how: How,
    field: &'static str,
    input: V,
) -> NextPart<V, H> {
    NextPart {
        node,
        how,
        field,
        key: ABSENT,
        input,
        given: false,
        bind: None,
        held: H::default(),
    }
}

/// Returns the part that is visited next.
pub(super) fn next_part<D: Domain>(domain: &mut D, source: &Document) -> Option<PartOf<D>> {
    let frame = domain.stack().frames.last()?;
    let (what, node, edition) = (frame.what, frame.node, domain.stack().edition);
    match what {
        What::Op(op, false) => loop {
            let mut part = next_of_fields(domain, source, op.fields(edition), op.shape())?;
            chain_and_bind(domain, source, op.shape(), &mut part);
            match domain.before(source, op.shape(), &mut part) {
                Visiting::Visit => {
                    name_item(domain, source, op.shape(), &mut part);
                    return Some(part);
                }
                Visiting::Skip => {}
                Visiting::Stop => return None,
            }
        },
        What::Op(_, true) => {
            let how = match edition {
                Edition::One => How::Value,
                Edition::Two => How::Template,
            };
            next_pair(domain, source, node, how, true)
        }
        What::Data(how) => match source.entry(node) {
            Entry::Object(..) => next_pair(domain, source, node, how, false),
            _ => {
                let element = next_element(domain, source, node)?;
                Some(part(element, how, "", domain.stack().frames.last()?.input))
            }
        },
    }
}

/// Returns the place of a field among those of its operation, in the order in which they are visited.
fn place_of(shape: OpShape, stage: usize, fields: &[Field]) -> usize {
    let names = shape.begins_with();
    if names.is_empty() {
        return stage;
    }
    let is_first = |place: &usize| names.contains(&fields[*place].name);
    let place_of = |name: &&str| fields.iter().position(|field| field.name == *name);
    let others = (0..fields.len()).filter(|place| !is_first(place));
    let mut all = names.iter().filter_map(place_of).chain(others);
    all.nth(stage).unwrap_or(stage)
}

fn next_of_fields<D: Domain>(
    domain: &mut D,
    source: &Document,
    fields: &'static [Field],
    shape: OpShape,
) -> Option<PartOf<D>> {
    loop {
        let frame = domain.stack_mut().frames.last_mut()?;
        let stage = frame.stage as usize;
        if stage >= fields.len() {
            return None;
        }
        let place = place_of(shape, stage, fields);
        let node = frame.fields[place];
        if node != ABSENT {
            if let Some(part) = part_of_field(domain, source, shape, &fields[place], node) {
                return Some(part);
            }
        }
        let frame = domain.stack_mut().frames.last_mut()?;
        frame.stage += 1;
        (frame.at, frame.left) = (ABSENT, 0);
    }
}

/// Returns the next part of a field.
fn part_of_field<D: Domain>(
    domain: &mut D,
    source: &Document,
    shape: OpShape,
    field: &'static Field,
    node: Node,
) -> Option<PartOf<D>> {
    let input = domain.stack().frames.last()?.input;
    let how = match field.kind {
        FieldKind::Expr => How::Expr,
        FieldKind::Operand => How::Operand,
        FieldKind::Template | FieldKind::Text | FieldKind::NonEmptyText => How::Template,
        FieldKind::TemplateMap => How::Templates,
        FieldKind::Map if shape == OpShape::ObjectOfParts => How::Values,
        FieldKind::Map => How::Constants,
        FieldKind::Any if shape.keeps_constants() => How::Constant,
        FieldKind::Any => How::Value,
        FieldKind::Parts if source.shape(node) != Shape::List => How::Expr,
        FieldKind::ExprList | FieldKind::TemplateList | FieldKind::Parts => {
            let how = match field.kind {
                FieldKind::ExprList => How::Expr,
                _ => How::Template,
            };
            let element = next_element(domain, source, node)?;
            return Some(part(element, how, field.name, input));
        }
        FieldKind::Cases => loop {
            let frame = domain.stack_mut().frames.last_mut()?;
            let then = std::mem::replace(&mut frame.then, ABSENT);
            if then != ABSENT {
                return Some(part(then, How::Template, "then", input));
            }
            let case = next_element(domain, source, node)?;
            if let (Some(when), Some(then)) =
                (source.field(case, "when"), source.field(case, "then"))
            {
                domain.stack_mut().frames.last_mut()?.then = then;
                return Some(part(when, How::Expr, field.name, input));
            }
        },
        FieldKind::SortKeys => loop {
            let key = next_element(domain, source, node)?;
            let expr = source.field(key, "expr");
            if let Some(expr) = expr.filter(|it| source.shape(*it) != Shape::Null) {
                return Some(part(expr, How::Expr, "expr", input));
            }
        },
        _ => return None,
    };
    // A field with one part.
    let frame = domain.stack_mut().frames.last_mut()?;
    if std::mem::replace(&mut frame.at, node) != ABSENT {
        return None;
    }
    Some(part(node, how, field.name, input))
}

/// Returns the next element of a list.
fn next_element<D: Domain>(domain: &mut D, source: &Document, list: Node) -> Option<Node> {
    let frame = domain.stack_mut().frames.last_mut()?;
    if frame.at == ABSENT {
        let Entry::List(_, count) = source.entry(list) else {
            return None;
        };
        (frame.at, frame.left) = (list + 1, count);
    }
    if frame.left == 0 {
        return None;
    }
    let element = frame.at;
    frame.left -= 1;
    frame.at = source.end(element);
    Some(element)
}

/// Returns the next value of an object.
fn next_pair<D: Domain>(
    domain: &mut D,
    source: &Document,
    object: Node,
    how: How,
    implicit: bool,
) -> Option<PartOf<D>> {
    loop {
        let frame = domain.stack_mut().frames.last_mut()?;
        if frame.at == ABSENT {
            let Entry::Object(_, count) = source.entry(object) else {
                return None;
            };
            (frame.at, frame.left) = (object + 1, count);
        }
        if frame.left == 0 {
            return None;
        }
        let (key, input) = (frame.at, frame.input);
        frame.left -= 1;
        frame.at = source.end(key + 1);
        let text = source.text(key);
        // The current value of an object that names no operation is no field of it.
        if implicit && text == Some(INPUT_NAME.as_bytes()) {
            continue;
        }
        if domain.visits_key(object, text) {
            let part = part(key + 1, how, "", input);
            return Some(NextPart { key, ..part });
        }
    }
}

/// Gives a step of a pipe its current value, and binds the name of a `let`.
fn chain_and_bind<D: Domain>(
    domain: &mut D,
    source: &Document,
    shape: OpShape,
    part: &mut PartOf<D>,
) {
    match (shape, part.field) {
        (OpShape::Chained, _) => {
            part.input = match domain.stack().last_part() {
                Some(before) => before,
                None => first_input(domain, source, part.node),
            };
            part.given = true;
        }
        (OpShape::Bind, "in") => {
            let value = domain.stack().part_in("value").unwrap_or(D::NULL);
            match domain.stack().text(source, "name") {
                Some(name) if name == INPUT_NAME.as_bytes() => part.input = value,
                Some(name) => part.bind = Some((domain.names().id(name), value)),
                None => {}
            }
        }
        _ => {}
    }
}

/// Returns the current value of the first step of a pipe. In edition 1 it is null, unless the step names it.
fn first_input<D: Domain>(domain: &D, source: &Document, step: Node) -> D::Value {
    match (domain.stack().edition, domain.stack().frames.last()) {
        (Edition::Two, Some(frame)) => domain.first_input(frame.input),
        (Edition::One, Some(frame)) if names_input(source, step) => frame.input,
        _ => D::NULL,
    }
}

/// Binds the name of an item in a body.
fn name_item<D: Domain>(domain: &mut D, source: &Document, shape: OpShape, part: &mut PartOf<D>) {
    let has_name = !matches!(
        shape,
        OpShape::Accumulator | OpShape::Grouped | OpShape::Chained
    );
    if !part.given || !has_name || domain.stack().edition == Edition::One {
        return;
    }
    if let Some(name) = domain.stack().text(source, "as") {
        part.bind = Some((domain.names().id(name), part.input));
    }
}
