//! The check before a run: the errors it finds, and that it reports the first one.

#[test]
fn parts() {
    rejects!("5" => NodeNotAMap, "", "5");
    rejects!(r#"{"op":null}"# => MissingOp, "");
    rejects!(r#"{"op":"flter"}"# => UnknownOp, "", r#""flter""#);
    rejects!(r#"{"op":42}"# => UnknownOp, "", "42");
    rejects!(r#"{"op":"not","condition":[]}"# => NodeNotAMap, "", "[]");
    rejects!(r#"{"op":"add","left":"5","right":1}"# => NodeNotAMap, "", r#""5""#);
    rejects!(r#"{"a":{"b":{"op":"x"}},"c":{"op":"y"}}"# => UnknownOp, "", r#""y""#);
    // The first of repeated keys counts, for operations too.
    rejects!(r#"{"op":"x","op":"first"}"# => UnknownOp, "", r#""x""#);
}

#[test]
fn fields_in_the_order_of_their_names() {
    rejects!(r#"{"op":"load"}"# => FieldMissing, "name");
    rejects!(r#"{"op":"load","name":null}"# => FieldNotString, "name");
    rejects!(r#"{"op":"let"}"# => FieldMissing, "in");
    rejects!(r#"{"op":"let","in":1,"value":2,"name":3}"# => FieldNotString, "name");
    rejects!(r#"{"op":"let","in":1,"value":2,"name":"x"}"# => NodeNotAMap, "", "2");
    rejects!(r#"{"op":"if","condition":{},"then":{}}"# => FieldMissing, "else");
    rejects!(r#"{"op":"if","condition":{},"then":1,"else":2}"# => NodeNotAMap, "", "2");
    rejects!(r#"{"op":"pipe","steps":{}}"# => FieldNotList, "steps");
    rejects!(r#"{"op":"object","fields":[]}"# => FieldNotMap, "fields");
    rejects!(r#"{"op":"call","args":1}"# => FieldNotMap, "args");
    rejects!(r#"{"op":"call","args":{}}"# => FieldMissing, "tool");
    rejects!(r#"{"op":"eq","field":1}"# => FieldNotString, "field");
    rejects!(r#"{"op":"eq","field":null}"# => FieldMissing, "value");
    rejects!(r#"{"op":"filter_in","field":"a"}"# => FieldMissing, "value");
    rejects!(r#"{"op":"sum"}"# => FieldMissing, "field");
}

#[test]
fn special_fields() {
    rejects!(r#"{"op":"nth","index":null}"# => FieldMissing, "index");
    rejects!(r#"{"op":"nth","index":-1}"# => FieldNegative, "index", "-1");
    rejects!(r#"{"op":"take","count":-100000000000000000000}"# => FieldNegative, "count", "-100000000000000000000");
    rejects!(r#"{"op":"drop","count":1.0}"# => FieldNotInteger, "count");
    rejects!(r#"{"op":"select"}"# => FieldMissing, "fields");
    rejects!(r#"{"op":"select","fields":"a"}"# => FieldNotList, "fields");
    rejects!(r#"{"op":"select","fields":["a",1]}"# => FieldNotStrings, "fields");
    rejects!(r#"{"op":"sort_by","field":null}"# => FieldMissing, "field");
    rejects!(r#"{"op":"sort_by","field":"a","order":"up"}"# => UnknownOrder, "order", r#""up""#);
    rejects!(r#"{"op":"sort_by","field":"a","order":{}}"# => UnknownOrder, "order", "%{}");
    rejects!(r#"{"op":"get","field":null,"path":null}"# => FieldAndPath, "field");
    rejects!(r#"{"op":"get"}"# => NeitherFieldNorPath, "field");
    rejects!(r#"{"op":"get","field":null}"# => FieldNotString, "field");
    rejects!(r#"{"op":"get","path":"a"}"# => FieldNotList, "path");
    rejects!(r#"{"op":"get","path":["a",null]}"# => FieldNotStrings, "path");
}

#[test]
fn what_is_taken_literally_is_not_looked_at() {
    runs!(r#"{"op":"literal","value":{"op":"x"}}"# => r#"%{"op" => "x"}"#);
    runs!(r#"{"a":[{"op":"x"}]}"# => r#"%{"a" => [%{"op" => "x"}]}"#);
    runs!(r#"{"op":"filter_in","field":"f","value":{"op":"literal","value":[]},"__input":[]}"# => "[]");
    // A comparison's value is evaluated, but not checked: its mistake is one of the run.
    fails!(r#"{"op":"eq","value":{"op":"load"},"__input":1}"# => ContextKey, "nil");
}
