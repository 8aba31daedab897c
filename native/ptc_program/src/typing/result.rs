//! The program's value, and the type that its result must have.

use super::finding::{Detail, FindingCode, Severity};
use super::fit::Why;
use super::ty::{Ty, TyId};
use super::walk::TypeWalk;

impl TypeWalk {
    /// Checks the type of the program's value against the one of the result; returns the result's type.
    pub(super) fn returned(&mut self, value: TyId) -> TyId {
        let ty = self.result_of(value);
        self.types.read_all(ty, &mut self.sources);
        let Some(wanted) = self.known.returns else {
            return ty;
        };
        let root = self.root();
        for misfit in self.types.misfits(ty, wanted, false) {
            let (severity, path) = match misfit.certain {
                true => (Severity::Error, Detail::Path(misfit.path)),
                false => (Severity::Warning, Detail::Path(misfit.path)),
            };
            let (code, details) = match misfit.why {
                Why::Type(wanted, got) => {
                    let code = match misfit.certain {
                        true => FindingCode::WrongResult,
                        false => FindingCode::MaybeWrongResult,
                    };
                    (code, vec![path, Detail::Type(wanted), Detail::Type(got)])
                }
                Why::Missing(wanted) => {
                    (FindingCode::MissingResult, vec![path, Detail::Type(wanted)])
                }
                Why::Undeclared => continue,
            };
            self.report(severity, code, root, None, details);
        }
        ty
    }

    /// Returns the type of the result: of an object with the key `result` its value.
    fn result_of(&mut self, value: TyId) -> TyId {
        let name = self.types.names.id(b"result");
        let mut all = TyId::NEVER;
        for member in self.types.members(&value).to_vec() {
            let is_open = matches!(self.types.get(member), Ty::Object(_, true));
            let read = self.types.at(member, name);
            let ty = match self.types.get(member) {
                Ty::Object(span, _) => match self.types.field_in(span, name) {
                    Some(field) if field.optional => {
                        let ty = self.types.union(field.ty, member);
                        self.types.or_null(ty)
                    }
                    Some(_) => read.ty,
                    None if is_open => TyId::UNKNOWN,
                    None => member,
                },
                _ => member,
            };
            all = self.types.union(all, ty);
        }
        all
    }
}
