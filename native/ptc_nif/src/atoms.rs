//! The atoms of the library's own making; none is ever made of input.

rustler::atoms! {
    nil,
    true_ = "true",
    false_ = "false",
    ok,
    error,
    infinity,

    // how a run is left
    call,
    more,
    limits,
    busy,
    timeout,
    memory_exceeded,

    // of a tool
    name,

    // how a text came out
    partial,
    foreign,
    not_utf8,

    // who found the mistake
    parse,
    validation,
    execution,
    expensive_to_inspect,

    // mistakes in a text
    unexpected_token,
    unexpected_end,
    too_deep,
    integer_too_long,
    program_missing,
    program_not_map,

    // answers
    no_json_found,
    invalid_json,
    other,
    halt,
    mistake,
    syntax,
    prose,
    fork,
    none,
    not_wrapped,
    not_an_object,
    hyphens,
    invalid,

    // mistakes in a program
    node_not_a_map,
    missing_op,
    unknown_op,
    field_missing,
    field_not_string,
    field_not_list,
    field_not_map,
    field_not_integer,
    field_negative,
    field_not_strings,
    unknown_order,
    field_and_path,
    neither_field_nor_path,

    // mistakes of a run
    no_input,
    needs_list,
    needs_map,
    needs_list_of_maps,
    needs_numbers,
    needs_map_values,
    needs_list_values,
    needs_numeric_operands,
    division_by_zero,
    needs_value_and_precision,
    precision_out_of_range,
    bad_arith,
    path_through_non_map,
    no_type_name,
    context_key,
    memory_key,
    let_name,
    not_a_count,
    unchecked_not_list,
    unchecked_not_map,

    // what a field holds
    any,
    string,
    map,
    expr,
    expr_list,
    string_list,
    non_neg_integer,

    // types of a signature, as terms
    signature,
    int,
    float,
    bool,
    keyword,
    datetime,
    optional,
    list,
    closed_map,

    // structs that coercion knows
    date_time = "Elixir.DateTime",
    naive_date_time = "Elixir.NaiveDateTime",
    date = "Elixir.Date",
    time = "Elixir.Time",

    // what a walk over a value comes to
    path,
    message,
    inspect,
    kind,
    unexpected,
    missing,
    refused,
    answered,
    unsupported,
    unknown,
    ask,
    too_much,
    too_long,

    // what could have stood in a signature's text
    type_ = "type",
    type_word,
    field_name,
    field_name_or_end,
    comma_or_map_end,
    list_end,
    param_name,
    param_name_or_end,
    comma_or_params_end,
    arrow,
    end_ = "end",
}
