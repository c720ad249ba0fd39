//! What scripts may do, and what ends them.

use std::sync::Arc;

use super::state::{Limit, State};
use crate::plan::Script;
use crate::script::Trouble;

const MEMORY: Limit = Limit {
    bytes: 64 << 20,
    key: None,
};

fn script(text: &str) -> Script {
    Script {
        name: "x.lua".to_owned(),
        text: Arc::from(text),
        sets: Vec::new(),
    }
}

/// Runs a text.
fn run(text: &str) -> Result<(), Trouble> {
    let state = State::new(MEMORY, None, Vec::new()).unwrap();
    state.load(&script(text)).map(|_| ())
}

/// The words of the error that a text has.
fn error(text: &str) -> String {
    match run(text) {
        Err(Trouble::Error(words)) => words,
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn a_script_reaches_no_file_no_program_and_no_bytecode() {
    for name in [
        "io",
        "package",
        "require",
        "module",
        "debug",
        "ffi",
        "jit",
        "dofile",
        "loadfile",
        "newproxy",
        "collectgarbage",
        "os.execute",
        "os.remove",
        "os.rename",
        "os.exit",
        "os.getenv",
        "os.tmpname",
        "string.dump",
    ] {
        assert_eq!(run(&format!("assert({name} == nil)")), Ok(()), "{name}");
    }
    let bytecode = "local code = load('\\27LJ\\2\\0', 'x', 'b') assert(code == nil, 'loaded')";
    assert_eq!(run(bytecode), Ok(()));
    assert_eq!(run("assert(loadstring('\\27LJ') == nil)"), Ok(()));
    assert_eq!(
        run("x = 5 assert(load('return x')() == 5 and os.time() > 0 and bit.band(6, 3) == 2)"),
        Ok(())
    );
    let words = error("return io.open('/etc/passwd')");
    let expected = "x.lua:1: attempt to index global 'io' (a nil value): `io` needs `--allow-io`";
    assert_eq!(words, expected);
}

#[test]
fn with_io_a_script_has_files_and_the_modules_of_its_folder() {
    let folder = std::env::temp_dir().join(format!("volley-lua-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("answer.lua"), "return 42").unwrap();
    let state = State::new(MEMORY, Some(&folder), Vec::new()).unwrap();
    let text =
        "assert(require 'answer' == 42 and io.open and os.getenv and not os.exit and not debug)";
    let done = state.load(&script(text)).map(|_| ());
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(done, Ok(()));
}

#[test]
fn whatever_runs_too_long_is_ended_with_its_line() {
    for text in [
        "\nwhile true do end",
        "\nlocal i = 0 while true do i = i + 1 end",
        "\nwhile true do pcall(function() while true do end end) end",
        "\nlocal function f() return pcall(f) end while true do f() end",
        "\nxpcall(function() while true do end end, function() while true do end end)",
        "\nlocal f = coroutine.wrap(function() while true do end end) while true do pcall(f) end",
        "\nlocal t = setmetatable({}, {__index = function() while true do end end}) return t.x",
        "\nlocal t = setmetatable({}, {__tostring = function() while true do end end}) return tostring(t)",
        "\nlocal s = ('a'):rep(1000) while true do s:gsub('a', function() while true do end end) end",
        "\nlocal s = (' '):rep(20000000) while true do pcall(tonumber, s) end",
        "\nlocal s = (' '):rep(20000000) while true do pcall(function() return s + 1 end) end",
        "\nwhile true do local s = ('x'):rep(30000000) end",
        "\nlocal t = {} for i = 1, 1e5 do t[i] = i % 7 end while true do table.sort(t) end",
    ] {
        let words = "x.lua:2: the script ran longer than 500 ms".to_owned();
        assert_eq!(run(text), Err(Trouble::Broken(words)), "{text}");
    }
}

#[test]
fn a_script_has_a_limit_of_memory() {
    for text in [
        "local t = {} for i = 1, 1e9 do t[i] = ('x'):rep(1e7) .. i end",
        "local s = 'x' while true do s = s .. s end",
        "return ('x'):rep(1e9)",
        "local t = {} for i = 1, 1e9 do t[i] = {('x'):rep(5e6) .. i} end",
    ] {
        let Err(Trouble::Broken(found)) = run(text) else {
            panic!("{text}")
        };
        // Where it ran out is not always known.
        let found = found.replace("x.lua:1: ", "x.lua: ");
        assert_eq!(
            found, "x.lua: the state of Lua has more than 64 MiB",
            "{text}"
        );
    }
    assert_eq!(run("assert(not pcall(string.rep, 'x', 1e9))"), Ok(()));
}

#[test]
fn an_error_names_the_file_and_the_line() {
    for (text, words) in [
        ("\nerror('no')", "x.lua:2: no"),
        (
            "\n\nlocal x = nil + 1",
            "x.lua:3: attempt to perform arithmetic on a nil value",
        ),
        ("\nerror({})", "x.lua:2: the error is a table, and no text"),
        ("\nerror('plain', 0)", "x.lua:2: plain"),
        (
            "local function f() return 1 + f() end f()",
            "x.lua: stack overflow",
        ),
        (
            "\nlocal x = ('x'):find('[a')",
            "x.lua:2: malformed pattern (missing ']')",
        ),
        ("if then", "x.lua:1: unexpected symbol near 'then'"),
    ] {
        let found = error(text);
        assert!(
            found.starts_with(words) && !found.contains('\n'),
            "{text}: {found}"
        );
    }
}

/// Ways to call one function of C inside another, without end. `f` is what each of them calls.
const NESTED: [&str; 9] = [
    "coroutine.wrap(f)()",
    "assert(coroutine.resume(coroutine.create(f)))",
    "local x = ('a'):gsub('a', f)",
    "local x = ('a'):gsub('a', setmetatable({}, {__index = f}))",
    "table.sort({1, 2, 3}, function(a, b) f() return a < b end)",
    "table.sort(setmetatable({{}, {}}, {}), function() return f() end)",
    "local code, why = load(function() f() end) assert(code, why)",
    "local x = string.format('%s', setmetatable({}, {__tostring = f}))",
    "table.sort({1, 2}, coroutine.wrap(function() f() end))",
];

#[test]
fn functions_of_c_are_not_nested_without_end() {
    for call in NESTED {
        let text = format!("function f() {call} return 'x' end\nf()");
        let found = error(&text);
        assert!(found.ends_with("C stack overflow"), "{call}: {found}");
        // Whoever catches it can go on, with all of the stack.
        let text = format!(
            "function f() {call} return 'x' end
            for _ = 1, 3 do
                local ok, why = pcall(f)
                assert(not ok and tostring(why):find('C stack overflow', 1, true), why)
                local sum = 0
                for i = 1, 1000 do sum = sum + i end
                assert(sum == 500500 and ('a'):gsub('a', function() return 'b' end) == 'b')
            end"
        );
        assert_eq!(run(&text), Ok(()), "{call}");
    }
}

#[test]
fn whoever_catches_an_overflow_gets_no_deeper() {
    for call in NESTED {
        let text = format!("function f() pcall(function() {call} end) pcall(f) return 'x' end f()");
        let words = "x.lua:1: the script ran longer than 500 ms".to_owned();
        let found = run(&text);
        let is_ended = found == Err(Trouble::Broken(words));
        let is_overflow =
            matches!(&found, Err(Trouble::Error(words)) if words.contains("overflow"));
        assert!(is_ended || is_overflow, "{call}: {found:?}");
    }
}

#[test]
fn what_is_deep_is_compiled_and_searched_on_what_is_left_of_the_stack() {
    let leaves = [
        "assert(not load(('function() '):rep(1000)))",
        "assert(not load('return ' .. ('{'):rep(1000)))",
        "assert(not load('return ' .. ('('):rep(1000)))",
        "assert(not load('return ' .. ('not '):rep(1000) .. '1'))",
        "assert(not load(('do '):rep(1000)))",
        "assert(not pcall(string.find, ('a'):rep(1000), ('a?'):rep(1000)))",
    ];
    for leaf in leaves {
        let text = format!(
            "local function f() {leaf} return (('a'):gsub('a', f)) end
            local ok, why = pcall(f)
            assert(not ok and tostring(why):find('C stack overflow', 1, true), why)"
        );
        assert_eq!(run(&text), Ok(()), "{leaf}");
    }
}

#[test]
fn metamethods_are_not_nested_without_end() {
    for text in [
        "return setmetatable({}, {__index = function(t, k) return t[k + 1] end})[1]",
        "local t = setmetatable({}, {}) getmetatable(t).__tostring = function() return tostring(t) .. '' end tostring(t)",
        "local t = setmetatable({}, {__concat = function(a, b) return a .. b .. '' end}) return t .. t",
        "local t = setmetatable({}, {__call = function(t) return 1 + t() end}) return t()",
        "local m = {__lt = function(a, b) return not (a < b) end} return setmetatable({}, m) < setmetatable({}, m)",
    ] {
        let found = error(text);
        assert!(found.contains("stack overflow"), "{text}: {found}");
    }
}

#[test]
fn a_format_of_time_has_a_limit() {
    assert_eq!(
        run("assert(os.date('%Y') > '2000' and os.date() and os.date('*t', 0).year)"),
        Ok(())
    );
    let words = "x.lua:1: os.date: a format has at most 1000 bytes".to_owned();
    assert_eq!(run("os.date(('%c'):rep(1000))"), Err(Trouble::Error(words)));
}

#[test]
fn a_long_error_is_cut() {
    let words = error("error(('x'):rep(1e7))");
    assert!(
        words.starts_with("x.lua:1: xxx") && words.len() < 1000,
        "{}",
        words.len()
    );
}
