//! Tests of the parser.

use super::*;
use crate::{render_signature, KeyStyle};

/// Returns the canonical text of a signature.
fn meaning(text: &str) -> String {
    let signature = parse(text.as_bytes()).unwrap();
    let rendered = render_signature(&signature, KeyStyle::Declared, usize::MAX).unwrap();
    String::from_utf8(rendered).unwrap()
}

fn error(text: &str) -> (usize, usize, Expected) {
    let error = parse(text.as_bytes()).unwrap_err();
    (error.column, error.deepest, error.expected)
}

#[test]
fn both_styles_mean_the_same() {
    for text in [
        "{id :int, name :string?}",
        "{:id :int :name :string?}",
        "{:id :int, name :string?}",
        "{id:int,name:string?}",
        " { ;; a comment }\n id :int ;x\n:name\t:string? }\r\n; done",
    ] {
        assert_eq!(meaning(text), "-> {id :int, name :string?}", "{text}");
    }
}

#[test]
fn everything_can_be_optional_once() {
    assert_eq!(
        meaning("(a [[:int]?]?)->{b{c :boolean}?}?"),
        "(a [[:int]?]?) -> {b {c :bool}?}?"
    );
    assert_eq!(error(":int??"), (5, 5, Expected::End));
    assert_eq!(error(":int ?"), (5, 5, Expected::End));
}

#[test]
fn errors_name_the_place_they_report_and_the_place_they_mean() {
    assert_eq!(error(""), (0, 0, Expected::Type));
    assert_eq!(error("   "), (3, 3, Expected::Type));
    assert_eq!(error(":foo"), (1, 0, Expected::TypeWord));
    assert_eq!(error(":integer"), (4, 4, Expected::End));
    assert_eq!(error("  {a :foo}"), (2, 5, Expected::TypeWord));
    assert_eq!(error("{a :int b :int}"), (0, 8, Expected::CommaOrMapEnd));
    assert_eq!(error("{:a :int:b :int}"), (0, 8, Expected::CommaOrMapEnd));
    assert_eq!(error("{a :int,}"), (0, 8, Expected::FieldName));
    assert_eq!(error("{1 :int}"), (0, 1, Expected::FieldNameOrEnd));
    assert_eq!(error("[:int"), (0, 5, Expected::ListEnd));
    assert_eq!(error("[]"), (0, 1, Expected::Type));
    assert_eq!(error("(:a :int) -> :int"), (0, 1, Expected::ParamNameOrEnd));
    assert_eq!(
        error("(a :int b :int) -> :int"),
        (0, 8, Expected::CommaOrParamsEnd)
    );
    assert_eq!(error("(a :int, ) -> :int"), (0, 9, Expected::ParamName));
    assert_eq!(error("() :int"), (0, 3, Expected::Arrow));
    assert_eq!(error("-> :int"), (0, 0, Expected::Type));
    assert_eq!(error("->"), (0, 0, Expected::Type));
    assert_eq!(error("->  {k :map}"), (0, 0, Expected::Type));
    assert_eq!(error("{a :int}\n\n{b :int}"), (10, 10, Expected::End));
}

#[test]
fn a_signature_without_parameters_is_read_as_it_is_rendered() {
    for text in ["-> {k :map}", "-> [{k :map?}]", "  -> {}"] {
        let whole = format!("() {}", text.trim());
        let (read, meant) = (
            parse(text.as_bytes()).unwrap(),
            parse(whole.as_bytes()).unwrap(),
        );
        assert_eq!(format!("{:?}", read.types), format!("{:?}", meant.types));
        assert_eq!(read.returns, meant.returns);
    }
    assert!(parse_by(Rules::BEFORE_0_11, b"-> {k :map}").is_err());
}

#[test]
fn older_rules_have_neither_the_newer_types_nor_optional_lists_and_maps() {
    let older = |text: &str| parse_by(Rules::BEFORE_0_11, text.as_bytes());
    let refused = |text: &str| {
        let error = older(text).unwrap_err();
        (error.column, error.deepest, error.expected)
    };
    assert_eq!(refused(":datetime"), (1, 0, Expected::TypeWord));
    assert_eq!(refused("{a :datetime?}"), (0, 3, Expected::TypeWord));
    assert_eq!(refused(":boolean"), (5, 5, Expected::End));
    assert_eq!(
        refused("(a :boolean) -> :int"),
        (0, 8, Expected::CommaOrParamsEnd)
    );
    assert_eq!(refused("[:int]?"), (6, 6, Expected::End));
    assert_eq!(refused("{a {b :int}?}"), (0, 11, Expected::CommaOrMapEnd));
    assert_eq!(refused("{}?"), (2, 2, Expected::End));
    for text in [
        "(a :bool?, b [:int?]) -> {c :map?, d :any?}",
        "{:id :int :name :string?} ; x",
    ] {
        assert!(older(text).is_ok(), "{text}");
    }
}

#[test]
fn nesting_needs_no_stack() {
    let depth = 1_000_000;
    let text = [vec![b'['; depth], b":int".to_vec(), vec![b']'; depth]].concat();
    assert_eq!(parse(&text).unwrap().types.all().len(), depth + 1);
    assert_eq!(parse(&text[..depth]).unwrap_err().deepest, depth);
    let open = "{a ".repeat(depth);
    assert_eq!(parse(open.as_bytes()).unwrap_err().deepest, 3 * depth);
}

#[test]
fn bytes_that_are_no_text_are_unexpected_except_in_comments() {
    assert!(parse(b":int ; \xff\xfe").is_ok());
    assert_eq!(parse(b"\xff").unwrap_err().column, 0);
    assert_eq!(parse(b":int\xa0").unwrap_err().column, 4);
}
