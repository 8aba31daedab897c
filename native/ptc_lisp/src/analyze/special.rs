//! The special forms: what a list means by the symbol at its head.

macro_rules! specials {
    ($($variant:ident = $name:literal;)+) => {
        /// A special form.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Special {
            $(#[doc = concat!("`", $name, "`")] $variant,)+
        }

        impl Special {
            /// Returns the special form of this name.
            pub fn named(name: &str) -> Option<Special> {
                Some(match name {
                    $($name => Special::$variant,)+
                    _ => return None,
                })
            }

            /// Returns its name.
            pub fn name(self) -> &'static str {
                match self {
                    $(Special::$variant => $name,)+
                }
            }
        }
    };
}

specials! {
    Let = "let";
    Loop = "loop";
    Recur = "recur";
    Fn = "fn";
    If = "if";
    IfNot = "if-not";
    When = "when";
    WhenNot = "when-not";
    IfLet = "if-let";
    WhenLet = "when-let";
    IfSome = "if-some";
    WhenSome = "when-some";
    WhenFirst = "when-first";
    Cond = "cond";
    Case = "case";
    Condp = "condp";
    And = "and";
    Or = "or";
    Do = "do";
    First = "->";
    Last = "->>";
    As = "as->";
    CondFirst = "cond->";
    CondLast = "cond->>";
    SomeFirst = "some->";
    SomeLast = "some->>";
    For = "for";
    Doseq = "doseq";
    Def = "def";
    Defonce = "defonce";
    Defn = "defn";
    Return = "return";
    Fail = "fail";
    Juxt = "juxt";
    Apply = "apply";
    Pmap = "pmap";
    Pcalls = "pcalls";
    Comment = "comment";
    Quote = "quote";
    Dot = ".";
}

impl Special {
    /// Returns whether a local of its name does not shadow it.
    pub fn is_fixed(self) -> bool {
        use Special::*;
        matches!(self, If | Def | Defonce | Do | Recur | Return | Fail)
    }
}
