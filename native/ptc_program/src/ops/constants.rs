//! Which constants the values of operations may contain.

use super::{join, reshape, OpCode};
use crate::code::{Apply, NO_CONST};
use ptc_vm::language::Contained;

/// See [`Language::constants_in`](ptc_vm::language::Language::constants_in).
pub(super) fn constants_in(apply: &Apply) -> Contained {
    use OpCode::*;
    match apply.op {
        Get => Contained::Value(apply.value),
        Object => Contained::Keys(apply.key, apply.operands),
        Set if reshape::makes(apply) => Contained::Keys(apply.key, apply.operands),
        Select if apply.value == NO_CONST => Contained::Keys(apply.key, apply.mode),
        Join => match join::name_of(apply) {
            NO_CONST => Contained::Nothing,
            name => Contained::Keys(name, 1),
        },
        // Numbers, booleans and new texts, or nothing but operands, items and the current value.
        Set | List | Concat | Merge | First | Last | Take | Drop | SortBy | Distinct | Reverse
        | Eq | Neq | Gt | Gte | Lt | Lte | And | Or | Not | Count | Sum | Avg | Add | Sub | Mul
        | Div | Pct | Round => Contained::Nothing,
        _ => Contained::Any,
    }
}
