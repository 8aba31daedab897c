//! Rules of operations between objects and their entries.

use crate::typing::finding::Subject;
use crate::typing::rule::Rule;
use crate::typing::ty::{FieldTy, Kinds, Ty, TyId};

/// The type of `entries`.
pub fn entries(rule: &mut Rule) -> TyId {
    let input = rule.input();
    let node = rule.node;
    let object = rule.need(input, Kinds::OBJECT, Subject::Input, node);
    rule.read_all(object);
    let mut values = TyId::NEVER;
    for member in rule.types().members(&object).to_vec() {
        match rule.types().get(member) {
            Ty::Object(span, false) => {
                for field in rule.types().fields(span).to_vec() {
                    values = rule.types().union(values, field.ty);
                }
            }
            _ => values = TyId::UNKNOWN,
        }
    }
    let names = [(&b"key"[..], TyId::TEXT), (b"value", values)];
    let mut fields: Vec<FieldTy> = Vec::new();
    for (name, ty) in names {
        let name = rule.types().names.id(name);
        fields.push(FieldTy {
            name,
            ty,
            optional: false,
            from: 0,
        });
    }
    let entry = rule.types().object(&mut fields, false);
    rule.types().list(entry)
}

/// The type of `keys`.
pub fn keys(rule: &mut Rule) -> TyId {
    let (input, node) = (rule.input(), rule.node);
    rule.need(input, Kinds::OBJECT, Subject::Input, node);
    TyId::TEXTS
}

/// The type of `from_entries`.
pub fn from_entries(rule: &mut Rule) -> TyId {
    let item = rule.items();
    let node = rule.node;
    let object = rule.need(item, Kinds::OBJECT, Subject::Items, node);
    let name = rule.types().names.id(b"key");
    if rule.types().kinds(object).meets(Kinds::OBJECT) && object != TyId::UNKNOWN {
        let key = rule.read(object, name, node, false);
        let kinds = Kinds::TEXT.or(Kinds::NUMBER).or(Kinds::OTHER);
        rule.need(key, kinds, Subject::ItemsField(name), node);
        rule.read_all(object);
    }
    TyId::OBJECT
}
