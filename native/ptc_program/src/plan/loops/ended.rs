//! Values and numbers outside of the loop that they belong to.

use super::Loops;
use crate::plan::formula::{Factor, FormulaId, LoopId, Product};
use crate::plan::value::{ItemsOf, Value, ValueId, Values};

/// Maximum depth to which the parts of an item are followed.
const DEEPEST: usize = 12;
/// Maximum number of parts of an item that are followed.
const MOST_LOST: usize = 256;

impl Loops {
    /// Returns a number in which no loop occurs that has ended.
    pub(super) fn settled(
        &self,
        formula: FormulaId,
        upper: bool,
        values: &mut Values,
    ) -> FormulaId {
        let is_open = |of: LoopId| of == LoopId::ROOT || self.now(of) == (of, true);
        let products = values.formulas.get(formula);
        let is_settled = |factor: &Factor| match factor {
            Factor::Count(_, of) => is_open(*of),
            Factor::AtMost(..) => false,
        };
        if products.iter().all(|it| it.factors.iter().all(is_settled)) {
            return formula;
        }
        let mut all = Vec::new();
        for product in products {
            let (mut keeps, mut times) = (true, Some(product.times));
            let mut factors = Vec::with_capacity(product.factors.len());
            for factor in product.factors.iter().copied() {
                match factor {
                    Factor::Count(source, of) => {
                        keeps &= is_open(of);
                        factors.push(Factor::Count(source, self.now(of).0));
                    }
                    Factor::AtMost(number, inner) => {
                        let settled = self.all_settled(inner, values);
                        keeps &= settled;
                        match settled {
                            true => factors.push(factor),
                            false => times = times.and_then(|it| it.checked_mul(number)),
                        }
                    }
                }
            }
            match times {
                Some(times) if upper || keeps => all.push(Product { times, factors }),
                None if upper => return FormulaId::UNKNOWN,
                _ => {}
            }
        }
        match (upper, values.formulas.of(all)) {
            (false, FormulaId::UNKNOWN) => FormulaId::ZERO,
            (_, settled) => settled,
        }
    }

    /// Whether no loop occurs in a formula that has ended.
    fn all_settled(&self, formula: FormulaId, values: &Values) -> bool {
        let mut todo = vec![formula];
        while let Some(next) = todo.pop() {
            for factor in values.formulas.get(next).iter().flat_map(|it| &it.factors) {
                match factor {
                    Factor::AtMost(_, inner) => todo.push(*inner),
                    Factor::Count(_, of) if *of == LoopId::ROOT => {}
                    Factor::Count(_, of) if self.now(*of) == (*of, true) => {}
                    Factor::Count(..) => return false,
                }
            }
        }
        true
    }

    /// Returns a value whose parts belong to no loop that has ended.
    pub(super) fn lost(&self, id: ValueId, values: &mut Values) -> ValueId {
        self.lost_in(id, values, DEEPEST, &mut { MOST_LOST })
    }

    // It calls itself at most to this depth.
    fn lost_in(&self, id: ValueId, values: &mut Values, depth: usize, left: &mut usize) -> ValueId {
        if values.is_settled(id) {
            return id;
        }
        if depth == 0 || *left == 0 {
            return values.computed(&[id]);
        }
        *left -= 1;
        match values.get(id) {
            Value::At(source, of) => match of == LoopId::ROOT || self.now(of) == (of, true) {
                true => id,
                false => values.at(source, LoopId::LOST),
            },
            Value::Made(_) => id,
            Value::Decided(inner, by) => {
                let inner = self.lost_in(inner, values, depth - 1, left);
                values.decided(inner, by)
            }
            Value::Named(item, keys) => {
                let item = self.lost_in(item, values, depth - 1, left);
                values.named(item, keys)
            }
            Value::List(items) => {
                let item = self.lost_in(items.item, values, depth - 1, left);
                let least = self.settled(items.least, false, values);
                let most = self.settled(items.most, true, values);
                values.list(ItemsOf {
                    item,
                    of: None,
                    least,
                    most,
                    ..items
                })
            }
            Value::Object(span, rest) => {
                let mut fields = values.fields(span).to_vec();
                for field in &mut fields {
                    field.1 = self.lost_in(field.1, values, depth - 1, left);
                }
                let rest = self.lost_in(rest, values, depth - 1, left);
                values.object_if(values.is_whole(id), fields, rest)
            }
            Value::OneOf(_) => {
                let mut all = ValueId::CONSTANT;
                for member in values.members(id) {
                    let member = self.lost_in(member, values, depth - 1, left);
                    all = values.join(all, member);
                }
                all
            }
        }
    }
}
