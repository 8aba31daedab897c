//! Steps for each operation of the table: those that read a list, and expressions that fail.
//!
//! Each list is made by a match over all operations, so an operation without an entry does not compile.

use ptc_program::ops::OpCode;

/// The steps of an operation that read all of the list `items`; none for an operation that has no
/// list of its own.
pub fn over_a_list(op: OpCode) -> &'static [&'static str] {
    use OpCode::*;
    match op {
        Count => &[
            r#"{"op":"count"}"#,
            r#"{"op":"count","where":{"op":"get","field":"n"}}"#,
            r#"{"op":"count","where":{"op":"gt","field":"n","value":100}}"#,
        ],
        Sum => &[
            r#"{"op":"sum","field":"n"}"#,
            r#"{"op":"sum","field":"f"}"#,
            r#"{"op":"sum","expr":{"op":"mul","left":{"op":"get","field":"n"},"right":{"op":"get","field":"f"}}}"#,
        ],
        Avg => &[
            r#"{"op":"avg","field":"n"}"#,
            r#"{"op":"avg","expr":{"op":"get","field":"n"}}"#,
        ],
        Min => &[
            r#"{"op":"min","field":"n"}"#,
            r#"{"op":"min","expr":{"op":"get","field":"s"}}"#,
        ],
        Max => &[
            r#"{"op":"max","field":"s"}"#,
            r#"{"op":"max","expr":{"op":"mul","left":{"op":"get","field":"n"},"right":-1}}"#,
        ],
        MinBy => &[
            r#"{"op":"min_by","field":"f"}"#,
            r#"{"op":"min_by","expr":{"op":"get","field":"f"}}"#,
        ],
        MaxBy => &[
            r#"{"op":"max_by","field":"s"}"#,
            r#"{"op":"max_by","expr":{"op":"get","field":"s"}}"#,
        ],
        First => &[r#"{"op":"first"}"#],
        Last => &[r#"{"op":"last"}"#],
        Nth => &[
            r#"{"op":"nth","index":1100}"#,
            r#"{"op":"nth","index":5000}"#,
        ],
        Take => &[r#"{"op":"take","count":1100}"#],
        Drop => &[
            r#"{"op":"drop","count":1100}"#,
            r#"{"op":"drop","count":5000}"#,
        ],
        Distinct => &[
            r#"{"op":"distinct"}"#,
            r#"{"op":"distinct","field":"mixed"}"#,
            r#"{"op":"distinct","field":"s"}"#,
            r#"{"op":"distinct","expr":{"op":"get","field":"s"}}"#,
        ],
        ForSome => &[r#"{"op":"some","where":{"op":"eq","field":"n","value":-1}}"#],
        ForEvery => &[r#"{"op":"every","as":"r","where":{"op":"get","field":"n"}}"#],
        Find => &[
            r#"{"op":"find","where":{"op":"eq","field":"n","value":-1}}"#,
            r#"{"op":"find","where":{"op":"eq","field":"n","value":500}}"#,
        ],
        FlatMap => &[
            r#"{"op":"flat_map","expr":{"op":"list","items":[{"op":"get","field":"n"},{"op":"it"}]}}"#,
        ],
        Flatten => &[
            r#"{"op":"flatten"}"#,
            r#"{"op":"map","expr":{"op":"list","items":[1,{"op":"it"}]}},{"op":"flatten"}"#,
        ],
        Reverse => &[r#"{"op":"reverse"}"#],
        Chunk => &[
            r#"{"op":"chunk","size":1}"#,
            r#"{"op":"chunk","size":7}"#,
            r#"{"op":"chunk","size":1200}"#,
            r#"{"op":"chunk","size":100000000000000000000}"#,
        ],
        Fold => &[
            r#"{"op":"fold","init":0,"expr":{"op":"add","left":{"op":"var","name":"acc"},"right":{"op":"get","field":"n"}}}"#,
        ],
        Coalesce => &[
            r#"{"op":"map","expr":{"op":"coalesce","values":[{"op":"get","field":"none"},{"op":"get","field":"n"}]}}"#,
        ],
        Switch => &[
            r#"{"op":"map","expr":{"op":"switch","cases":[{"when":{"op":"gt","field":"n","value":100},"then":{"op":"it"}}]}}"#,
        ],
        Select => &[r#"{"op":"select","fields":["n","s"]}"#],
        SortBy => &[
            r#"{"op":"sort_by","field":"n"}"#,
            r#"{"op":"sort_by","field":"n","order":"desc"}"#,
            r#"{"op":"sort_by","field":"f"}"#,
            r#"{"op":"sort_by","field":"s"}"#,
            r#"{"op":"sort_by","field":"s","order":"desc"}"#,
            r#"{"op":"sort_by","field":"mixed"}"#,
            r#"{"op":"sort_by","field":"long"}"#,
            r#"{"op":"sort_by","expr":{"op":"get","field":"s"}}"#,
            r#"{"op":"sort_by","by":[{"field":"mixed"},{"field":"n","order":"desc"}]}"#,
            r#"{"op":"sort_by","by":[{"expr":{"op":"get","field":"mixed"},"order":"desc"},{"field":"s"}]}"#,
            r#"{"op":"sort_by","by":[{"expr":{"op":"get","field":"none"}},{"field":"mixed"},{"expr":{"op":"get","field":"n"}}]}"#,
        ],
        FilterIn => &[
            r#"{"op":"filter_in","field":"n","value":[1,2,3,4,5,6,7,8,9,10,11,12,900]}"#,
            r#"{"op":"filter_in","field":"n","value":{"op":"pipe","steps":[{"op":"load","name":"items"},
                {"op":"map","expr":{"op":"get","field":"k"}}]}}"#,
        ],
        Median => &[
            r#"{"op":"median","field":"n"}"#,
            r#"{"op":"median","field":"f"}"#,
            r#"{"op":"median","field":"mixed"}"#,
            r#"{"op":"median","expr":{"op":"get","field":"n"}}"#,
        ],
        Percentile => &[
            r#"{"op":"percentile","field":"n","p":90}"#,
            r#"{"op":"percentile","field":"f","p":12.5}"#,
            r#"{"op":"percentile","expr":{"op":"get","field":"mixed"},"p":1}"#,
        ],
        Contains => &[r#"{"op":"contains","value":{"n":-1}}"#],
        In => &[r#"{"op":"in","value":7}"#],
        Map => &[r#"{"op":"map","expr":{"op":"get","field":"s"}}"#],
        Filter => &[
            r#"{"op":"filter","where":{"op":"gt","field":"n","value":100}}"#,
            r#"{"op":"filter","where":{"op":"get","field":"n"}}"#,
        ],
        Reject => &[
            r#"{"op":"reject","where":{"op":"gt","field":"n","value":100}}"#,
            r#"{"op":"reject","where":{"op":"get","field":"none"}}"#,
        ],
        Concat => &[
            r#"{"op":"concat","lists":[{"op":"load","name":"items"},{"op":"load","name":"items"},
                {"op":"literal","value":[]}]}"#,
        ],
        Zip => &[
            r#"{"op":"zip","lists":[{"op":"load","name":"items"},{"op":"drop","count":1},
                {"op":"load","name":"items"}]}"#,
            r#"{"op":"zip","lists":[{"op":"drop","count":1},{"op":"load","name":"items"}]}"#,
        ],
        Set => &[
            r#"{"op":"set","fields":{"n":{"op":"mul","left":{"op":"get","field":"n"},"right":2},"new":[1,{"op":"keys"}]}}"#,
        ],
        Unset => &[r#"{"op":"unset","fields":["n","long","none"]}"#],
        Rename => &[r#"{"op":"rename","fields":{"n":"s","k":"new","none":"f"}}"#],
        FromEntries => &[
            r#"{"op":"rename","fields":{"s":"key","f":"value"}},{"op":"from_entries"}"#,
            r#"{"op":"rename","fields":{"n":"key"}},{"op":"from_entries"}"#,
        ],
        IndexBy => &[
            r#"{"op":"index_by","field":"s"}"#,
            r#"{"op":"index_by","field":"n"}"#,
            r#"{"op":"index_by","expr":{"op":"add","left":{"op":"get","field":"n"},"right":1}}"#,
        ],
        GroupBy => &[
            r#"{"op":"group_by","field":"n"}"#,
            r#"{"op":"group_by","fields":["mixed","s"],"each":{"first":{"op":"first"},"n":{"op":"count"}}}"#,
            r#"{"op":"group_by","fields":[]}"#,
            r#"{"op":"group_by","field":"mixed","each":{"c":{"op":"count"},"s":{"op":"sum","field":"f"},
                "a":{"op":"avg","field":"n"},"l":{"op":"min","field":"s"},"m":{"op":"max","field":"k"},"x":7}}"#,
            r#"{"op":"group_by","expr":{"op":"get","field":"s"},"as":"by","each":{"c":{"op":"count"}}}"#,
            r#"{"op":"group_by","fields":["n","mixed"],"each":{"s":{"op":"sum","field":"k"}}}"#,
            // A text that is no number: the items are grouped after all.
            r#"{"op":"group_by","field":"n","each":{"a":{"op":"avg","field":"s"},"c":{"op":"count"}}}"#,
            r#"{"op":"group_by","field":"long","each":{"c":{"op":"count"}}}"#,
        ],
        Join => &[
            r#"{"op":"join","with":{"op":"load","name":"items"},"on":"s"}"#,
            r#"{"op":"join","with":{"op":"pipe","steps":[{"op":"load","name":"items"},{"op":"take","count":50}]},
                "left":"n","right":"k","as":"match","kind":"left"}"#,
            r#"{"op":"join","with":{"op":"load","name":"items"},"on":"n","as":"all","kind":"group"}"#,
        ],
        Length => &[r#"{"op":"length"}"#],
        // They read no list, or read it in one step.
        EntriesOf | Load | Literal | Var | Pipe | Let | If | And | Or | Not | Eq | Neq | Gt
        | Gte | Lt | Lte | Add | Sub | Mul | Div | Round | Pct | Object | Merge | Get | Keys
        | Typeof | Call | List | It | Range | Text | ToText | Upper | Lower | Trim | Split
        | Replace | StartsWith | EndsWith | Matches | Extract | ToNumber | Mod | Abs | Floor
        | Ceil | DateDiff | DateAdd | DatePart | Now => &[],
    }
}

/// A row on which no expression of [`failing`] fails, if the expression depends on the row.
pub const GOOD: &str =
    r#"{"n":2,"d":"2024-02-29","l":[{"n":1},{"n":2},{"n":1}],"m":{"x":{"y":1}},"s":"t"}"#;

/// A row on which every expression of [`failing`] fails.
pub const BAD: &str = r#"{"n":"12.50","d":"2023-02-29","l":[{"n":1},{"n":"12.50"},7],"m":[1],"s":{"x":7},"bad":true}"#;

/// Expressions of an operation that fail with the current value [`BAD`]. The program is not checked
/// before it runs.
pub fn failing(op: OpCode) -> &'static [&'static str] {
    use OpCode::*;
    /// The field `l` as the current value of a step.
    macro_rules! on_l {
        ($step:literal) => {
            concat!(
                r#"{"op":"pipe","steps":[{"op":"var","name":"__input"},{"op":"get","field":"l"},"#,
                $step,
                "]}"
            )
        };
    }
    /// The field `m`, which is not a list of rows, as the current value of a step.
    macro_rules! on_s {
        ($step:literal) => {
            concat!(
                r#"{"op":"pipe","steps":[{"op":"var","name":"__input"},{"op":"get","field":"s"},"#,
                $step,
                "]}"
            )
        };
    }
    /// The field `bad`, which is not a map, as the current value of a step.
    macro_rules! on_bad {
        ($step:literal) => {
            concat!(
                r#"{"op":"pipe","steps":[{"op":"var","name":"__input"},{"op":"get","field":"bad"},"#,
                $step,
                "]}"
            )
        };
    }
    /// The value of a field.
    macro_rules! get {
        ($field:literal) => {
            concat!(r#"{"op":"get","field":""#, $field, r#""}"#)
        };
    }
    match op {
        Load => &[r#"{"op":"load"}"#, r#"{"op":"load","name":7}"#],
        // It never fails, but the step after it does.
        Literal => &[r#"{"op":"pipe","steps":[{"op":"literal","value":7},{"op":"count"}]}"#],
        Var => &[r#"{"op":"var"}"#, r#"{"op":"var","name":7}"#],
        Pipe => &[on_l!(r#"5"#), r#"{"op":"pipe","steps":[{"op":"nope"}]}"#],
        Let => &[
            r#"{"op":"let","name":7,"value":{"op":"literal","value":1},"in":{"op":"literal","value":1}}"#,
            concat!(
                r#"{"op":"let","name":"x","value":"#,
                on_l!(r#"{"op":"sum","field":"n"}"#),
                r#","in":{"op":"var","name":"x"}}"#
            ),
        ],
        If => &[
            r#"{"op":"if","condition":{"op":"literal","value":true},"then":{"op":"nope"},"else":{"op":"literal","value":1}}"#,
            concat!(
                r#"{"op":"if","condition":{"op":"get","field":"bad"},"then":"#,
                on_l!(r#"{"op":"sum","field":"n"}"#),
                r#","else":{"op":"literal","value":1}}"#
            ),
        ],
        And => &[
            r#"{"op":"and","conditions":[{"op":"get","field":"n"},{"op":"gt","field":"n","value":{"op":"nope"}}]}"#,
            concat!(
                r#"{"op":"and","conditions":[{"op":"get","field":"n"},"#,
                on_l!(r#"{"op":"sum","field":"n"}"#),
                "]}"
            ),
        ],
        Or => &[concat!(
            r#"{"op":"or","conditions":[{"op":"get","field":"none"},"#,
            on_l!(r#"{"op":"sum","field":"n"}"#),
            "]}"
        )],
        Not => &[concat!(
            r#"{"op":"not","condition":"#,
            on_l!(r#"{"op":"sum","field":"n"}"#),
            "}"
        )],
        Filter => &[
            on_s!(r#"{"op":"filter","where":{"op":"get","field":"n"}}"#),
            on_l!(r#"{"op":"filter","where":{"op":"gt","field":"n","value":1}}"#),
            on_l!(
                r#"{"op":"filter","where":{"op":"add","left":{"op":"get","field":"n"},"right":1}}"#
            ),
        ],
        Map => &[
            on_s!(r#"{"op":"map","expr":{"op":"get","field":"n"}}"#),
            on_l!(r#"{"op":"map","expr":{"op":"keys"}}"#),
        ],
        Reject => &[
            on_s!(r#"{"op":"reject","where":{"op":"get","field":"n"}}"#),
            on_l!(r#"{"op":"reject","where":{"op":"lt","field":"n","value":1}}"#),
        ],
        Select => &[
            on_bad!(r#"{"op":"select","fields":["n"]}"#),
            on_l!(r#"{"op":"select","fields":7}"#),
        ],
        SortBy => &[
            on_s!(r#"{"op":"sort_by","field":"n"}"#),
            on_l!(r#"{"op":"sort_by","expr":{"op":"keys"}}"#),
            on_l!(r#"{"op":"sort_by","by":[{"field":"n"},{"expr":{"op":"keys"}}]}"#),
        ],
        FilterIn => &[on_s!(r#"{"op":"filter_in","field":"n","value":[1]}"#)],
        Eq => &[on_bad!(r#"{"op":"eq","field":"x","value":1}"#)],
        Neq => &[on_bad!(r#"{"op":"neq","field":"x","value":1}"#)],
        Gt => &[on_bad!(r#"{"op":"gt","field":"x","value":1}"#)],
        Gte => &[on_bad!(r#"{"op":"gte","field":"x","value":1}"#)],
        Lt => &[on_bad!(r#"{"op":"lt","field":"x","value":1}"#)],
        Lte => &[on_bad!(r#"{"op":"lte","field":"x","value":1}"#)],
        Contains => &[on_bad!(r#"{"op":"contains","field":"x","value":1}"#)],
        In => &[on_bad!(r#"{"op":"in","field":"x","value":1}"#)],
        Count => &[
            on_s!(r#"{"op":"count"}"#),
            on_l!(r#"{"op":"count","where":{"op":"eq","field":"n","value":1}}"#),
            on_l!(r#"{"op":"count","where":{"op":"keys"}}"#),
        ],
        Sum => &[
            on_l!(r#"{"op":"sum","field":"n"}"#),
            on_s!(r#"{"op":"sum","field":"n"}"#),
            on_l!(r#"{"op":"sum","expr":{"op":"get","field":"n"}}"#),
            on_l!(r#"{"op":"filter","where":{"op":"get","field":"n"}},{"op":"sum","field":"n"}"#),
            on_l!(
                r#"{"op":"reject","where":{"op":"eq","field":"n","value":9}},{"op":"sum","field":"n"}"#
            ),
        ],
        Avg => &[
            on_s!(r#"{"op":"avg","field":"n"}"#),
            on_l!(r#"{"op":"avg","expr":{"op":"keys"}}"#),
        ],
        Min => &[
            on_s!(r#"{"op":"min","field":"n"}"#),
            on_l!(r#"{"op":"min","expr":{"op":"keys"}}"#),
        ],
        Max => &[on_s!(r#"{"op":"max","field":"n"}"#)],
        MinBy => &[on_s!(r#"{"op":"min_by","field":"n"}"#)],
        MaxBy => &[on_s!(r#"{"op":"max_by","field":"n"}"#)],
        First => &[on_s!(r#"{"op":"first"}"#)],
        Last => &[on_s!(r#"{"op":"last"}"#)],
        Nth => &[
            on_s!(r#"{"op":"nth","index":1}"#),
            on_l!(r#"{"op":"nth","index":"x"}"#),
        ],
        Take => &[
            on_s!(r#"{"op":"take","count":1}"#),
            on_l!(r#"{"op":"take","count":-1}"#),
        ],
        Drop => &[
            on_s!(r#"{"op":"drop","count":1}"#),
            on_l!(r#"{"op":"drop","count":null}"#),
        ],
        List => &[concat!(
            r#"{"op":"list","items":[1,{"x":"#,
            on_l!(r#"{"op":"sum","field":"n"}"#),
            "}]}"
        )],
        It => &[on_s!(r#"{"op":"it"},{"op":"count"}"#)],
        Coalesce => &[concat!(
            r#"{"op":"coalesce","values":[null,{"op":"get","field":"none"},"#,
            on_l!(r#"{"op":"sum","field":"n"}"#),
            "]}"
        )],
        Switch => &[
            concat!(
                r#"{"op":"switch","cases":[{"when":{"op":"literal","value":false},"then":1},{"when":"#,
                on_l!(r#"{"op":"sum","field":"n"}"#),
                r#","then":1}]}"#
            ),
            r#"{"op":"switch","cases":[7]}"#,
        ],
        Range => &[concat!(r#"{"op":"range","from":1,"to":"#, get!("n"), "}")],
        ForSome => &[
            on_s!(r#"{"op":"some","where":{"op":"it"}}"#),
            on_l!(r#"{"op":"some","where":{"op":"eq","field":"x","value":1}}"#),
        ],
        ForEvery => &[
            on_s!(r#"{"op":"every","where":{"op":"it"}}"#),
            on_l!(r#"{"op":"every","where":{"op":"neq","field":"x","value":1}}"#),
        ],
        Find => &[
            on_s!(r#"{"op":"find","where":{"op":"it"}}"#),
            on_l!(r#"{"op":"find","as":"r","where":{"op":"eq","field":"x","value":1}}"#),
        ],
        FlatMap => &[
            on_s!(r#"{"op":"flat_map","expr":{"op":"list","items":[]}}"#),
            on_l!(
                r#"{"op":"flat_map","expr":{"op":"coalesce","values":[{"op":"get","field":"n"},[]]}}"#
            ),
        ],
        Flatten => &[on_s!(r#"{"op":"flatten"}"#)],
        Reverse => &[on_s!(r#"{"op":"reverse"}"#)],
        Chunk => &[
            on_s!(r#"{"op":"chunk","size":2}"#),
            on_l!(r#"{"op":"chunk","size":0}"#),
        ],
        Fold => &[
            on_s!(r#"{"op":"fold","init":1,"expr":{"op":"var","name":"acc"}}"#),
            on_l!(
                r#"{"op":"fold","init":1,"expr":{"op":"add","left":{"op":"var","name":"acc"},"right":{"op":"get","field":"n"}}}"#
            ),
        ],
        Distinct => &[
            on_s!(r#"{"op":"distinct"}"#),
            on_l!(r#"{"op":"distinct","expr":{"op":"keys"}}"#),
        ],
        Set => &[
            on_bad!(r#"{"op":"set","fields":{"a":1}}"#),
            on_l!(r#"{"op":"set","fields":{"a":{"op":"get","field":"n"}}}"#),
        ],
        Unset => &[
            on_bad!(r#"{"op":"unset","fields":["a"]}"#),
            on_l!(r#"{"op":"unset","fields":["n"]}"#),
        ],
        Rename => &[
            on_bad!(r#"{"op":"rename","fields":{"a":"b"}}"#),
            on_l!(r#"{"op":"rename","fields":{"n":"m"}}"#),
        ],
        EntriesOf => &[on_l!(r#"{"op":"entries"}"#)],
        FromEntries => &[
            on_s!(r#"{"op":"from_entries"}"#),
            on_l!(r#"{"op":"from_entries"}"#),
        ],
        IndexBy => &[
            on_s!(r#"{"op":"index_by","field":"n"}"#),
            on_l!(r#"{"op":"index_by","expr":{"op":"typeof"}},{"op":"count"}"#),
            on_l!(r#"{"op":"index_by","field":"none"}"#),
        ],
        GroupBy => &[
            on_s!(r#"{"op":"group_by","field":"n"}"#),
            on_l!(r#"{"op":"group_by","field":"n","each":{"s":{"op":"sum","field":"n"}}}"#),
        ],
        Join => &[
            on_s!(r#"{"op":"join","with":[],"on":"n"}"#),
            on_l!(r#"{"op":"join","with":[],"on":"n"}"#),
            on_l!(r#"{"op":"take","count":2},{"op":"join","with":7,"on":"n"}"#),
        ],
        Text => &[
            concat!(
                r#"{"op":"text","parts":["a",[],"#,
                on_l!(r#"{"op":"sum","field":"n"}"#),
                "]}"
            ),
            r#"{"op":"text","parts":"a"}"#,
        ],
        ToText => &[
            concat!(
                r#"{"op":"to_text","value":"#,
                on_l!(r#"{"op":"sum","field":"n"}"#),
                "}"
            ),
            r#"{"op":"to_text","field":"s","decimals":2}"#,
        ],
        Upper => &[
            r#"{"op":"upper","field":"s"}"#,
            r#"{"op":"upper","field":7}"#,
        ],
        Lower => &[r#"{"op":"lower","field":"s"}"#],
        Trim => &[r#"{"op":"trim","field":"s"}"#],
        Length => &[r#"{"op":"length","field":"bad"}"#],
        Split => &[
            r#"{"op":"split","field":"s","by":","}"#,
            concat!(
                r#"{"op":"split","value":"a","by":"#,
                on_l!(r#"{"op":"sum","field":"n"}"#),
                "}"
            ),
            r#"{"op":"split","value":"a","by":""}"#,
        ],
        Replace => &[
            r#"{"op":"replace","field":"s","find":"a","with":"b"}"#,
            concat!(
                r#"{"op":"replace","value":"a","find":"a","with":"#,
                on_l!(r#"{"op":"sum","field":"n"}"#),
                "}"
            ),
        ],
        StartsWith => &[concat!(
            r#"{"op":"starts_with","value":"#,
            on_l!(r#"{"op":"sum","field":"n"}"#),
            "}"
        )],
        EndsWith => &[concat!(
            r#"{"op":"ends_with","value":"a","left":"#,
            on_l!(r#"{"op":"sum","field":"n"}"#),
            "}"
        )],
        Matches => &[
            concat!(
                r#"{"op":"matches","pattern":"a","left":"#,
                on_l!(r#"{"op":"sum","field":"n"}"#),
                "}"
            ),
            r#"{"op":"matches","pattern":"("}"#,
        ],
        Extract => &[
            r#"{"op":"extract","pattern":"a","field":"s"}"#,
            r#"{"op":"extract","pattern":"a","field":"s","all":true}"#,
        ],
        ToNumber => &[concat!(
            r#"{"op":"to_number","value":"#,
            on_l!(r#"{"op":"sum","field":"n"}"#),
            "}"
        )],
        Mod => &[
            concat!(r#"{"op":"mod","left":1,"right":"#, get!("n"), "}"),
            r#"{"op":"mod","left":1,"right":0}"#,
        ],
        Abs => &[
            r#"{"op":"abs","field":"n"}"#,
            on_bad!(r#"{"op":"abs","field":"n"}"#),
        ],
        Floor => &[r#"{"op":"floor","field":"n"}"#],
        Ceil => &[concat!(r#"{"op":"ceil","value":"#, get!("n"), "}")],
        Median => &[
            on_s!(r#"{"op":"median","field":"n"}"#),
            on_l!(
                r#"{"op":"median","expr":{"op":"add","left":{"op":"get","field":"n"},"right":1}}"#
            ),
        ],
        Percentile => &[
            on_s!(r#"{"op":"percentile","field":"n","p":50}"#),
            on_l!(r#"{"op":"percentile","field":"n","p":101}"#),
        ],
        DateDiff => &[
            concat!(
                r#"{"op":"date_diff","from":"#,
                get!("d"),
                r#","to":"2024-01-01","unit":"day"}"#
            ),
            r#"{"op":"date_diff","from":"2024-01-01","to":"2024-01-01","unit":"days"}"#,
        ],
        DateAdd => &[
            r#"{"op":"date_add","field":"d","amount":1,"unit":"month"}"#,
            concat!(
                r#"{"op":"date_add","value":"2024-01-01","amount":"#,
                get!("n"),
                r#","unit":"month"}"#
            ),
        ],
        DatePart => &[
            r#"{"op":"date_part","field":"d","part":"month"}"#,
            on_bad!(r#"{"op":"date_part","field":"d","part":"month"}"#),
        ],
        // It never fails, but the step after it does.
        Now => &[r#"{"op":"pipe","steps":[{"op":"now"},{"op":"count"}]}"#],
        Add => &[
            concat!(r#"{"op":"add","left":"#, get!("n"), r#","right":1}"#),
            r#"{"op":"add","left":1e308,"right":1e308}"#,
        ],
        Sub => &[concat!(
            r#"{"op":"sub","left":"#,
            get!("n"),
            r#","right":1}"#
        )],
        Mul => &[concat!(r#"{"op":"mul","left":1,"right":"#, get!("n"), "}")],
        Div => &[
            concat!(r#"{"op":"div","left":1,"right":"#, get!("n"), "}"),
            r#"{"op":"div","left":1,"right":0}"#,
        ],
        Pct => &[concat!(r#"{"op":"pct","part":1,"whole":"#, get!("n"), "}")],
        Round => &[
            concat!(r#"{"op":"round","value":"#, get!("n"), "}"),
            r#"{"op":"round","value":1.5,"precision":16}"#,
        ],
        Object => &[
            concat!(
                r#"{"best":"#,
                get!("n"),
                r#","total":"#,
                on_l!(r#"{"op":"sum","field":"n"}"#),
                "}"
            ),
            r#"{"op":"object","fields":7}"#,
        ],
        Merge => &[concat!(
            r#"{"op":"merge","objects":[{"op":"literal","value":{}},"#,
            get!("n"),
            "]}"
        )],
        Concat => &[concat!(
            r#"{"op":"concat","lists":["#,
            get!("l"),
            ",",
            get!("s"),
            "]}"
        )],
        Zip => &[concat!(
            r#"{"op":"zip","lists":["#,
            get!("l"),
            ",",
            get!("s"),
            "]}"
        )],
        Get => &[
            r#"{"op":"get","path":["s","x","y"]}"#,
            r#"{"op":"get","path":7}"#,
        ],
        Keys => &[on_l!(r#"{"op":"keys"}"#)],
        // Whatever JSON can represent has a type name, so it fails before it is evaluated.
        Typeof => &[on_l!(r#"{"op":"keys"},{"op":"typeof"}"#)],
        // The tool answers with its name and arguments, which are no list.
        Call => {
            &[r#"{"op":"pipe","steps":[{"op":"call","tool":"t","args":{"a":1}},{"op":"count"}]}"#]
        }
    }
}
