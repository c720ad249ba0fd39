//! What scripts may do, and what ends them.

use std::sync::Arc;

use mlua::{Lua, LuaOptions, MultiValue, StdLib, Value};
use proptest::prelude::*;

use super::Trouble;
use super::state::{Limit, State};
use crate::scenario::plan::Script;

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
    let state = State::new(MEMORY, None).unwrap();
    state.load(&script(text)).map(|_| ())
}

/// The values that a text returns, as Lua shows them.
fn shown(lua: &Lua, text: &str) -> Result<Vec<String>, String> {
    let values = lua.load(text).eval::<MultiValue>();
    let text = |value: Value| match value {
        Value::String(text) => format!("{:?}", text.to_string_lossy()),
        other => other.to_string().unwrap_or_default(),
    };
    values
        .map(|values| values.into_iter().map(text).collect())
        .map_err(|error| error.to_string())
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
    let Err(Trouble::Error(words)) = run("return io.open('/etc/passwd')") else {
        panic!()
    };
    let expected = "x.lua:1: attempt to index global 'io' (a nil value): `io` needs `--allow-io`";
    assert_eq!(words, expected);
}

#[test]
fn with_io_a_script_has_files_and_the_modules_of_its_folder() {
    let folder = std::env::temp_dir().join(format!("volley-lua-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("answer.lua"), "return 42").unwrap();
    let state = State::new(MEMORY, Some(&folder)).unwrap();
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
        "\nlocal s = ('a'):rep(10000) local x = s:find('.-.-.-.-b')",
        "\nlocal s = ('a'):rep(10000) local x = s:gsub('(a*)(a*)(a*)b', '')",
        "\nlocal s = ('a'):rep(10000) for _ in s:gmatch('.-.-.-.-b') do end",
        "\nlocal s = ('a'):rep(10000) while true do pcall(string.match, s, '.-.-.-.-b') end",
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
        let Err(Trouble::Error(found)) = run(text) else {
            panic!("{text}")
        };
        assert!(
            found.starts_with(words) && !found.contains('\n'),
            "{text}: {found}"
        );
    }
}

/// A state with LuaJIT's own functions, and one with those of this program.
fn both() -> [Lua; 2] {
    let plain = Lua::new_with(StdLib::STRING | StdLib::TABLE, LuaOptions::new()).unwrap();
    [plain, State::new(MEMORY, None).unwrap().lua]
}

#[test]
fn functions_of_patterns_are_those_of_luajit() {
    let [plain, own] = both();
    for text in [
        "('hello world'):find('o w')",
        "('hello world'):find('o', 6)",
        "('hello'):find('l+')",
        "('hello'):find('(l)(l)')",
        "('hello'):find('()ll()')",
        "('a.b'):find('.', 1, true)",
        "('a.b'):find('', 10)",
        "('abc'):find('c', -1)",
        "('abc'):find('b', -100)",
        "('abc'):find('^b', 2)",
        "('key = value'):match('^(%w+)%s*=%s*(%w+)$')",
        "('http://a:80/x?y=1'):match('^(%w+)://([^/:]+):?(%d*)(/.*)$')",
        "('f(a(b)c)d'):match('%b()')",
        "('THE (quick) fox'):find('%f[%a]%a+%f[%A]', 5)",
        "('abab'):match('(ab)%1')",
        "('x]y'):match('[]]')",
        "('x-y'):match('[a%-]')",
        "('x^y'):match('[x^]+')",
        "('abc'):gsub('%w', '%0%0')",
        "('abc'):gsub('%w*', 'x')",
        "('abc'):gsub('', '-')",
        "('hello world'):gsub('o', '0', 1)",
        "('hello world'):gsub('(%w+) (%w+)', '%2 %1')",
        "('abc'):gsub('b', '%%')",
        "('abc'):gsub('^a', 'x')",
        "('aaa'):gsub('^a', 'x')",
        "('abc'):gsub('%w', {a = '1', b = true and 2})",
        "('abc'):gsub('%w', function(c) if c ~= 'b' then return c:upper() end end)",
        "('abc'):gsub('(a)(b)', function(...) return select('#', ...) end)",
        "string.gsub(1231, 1, 2)",
        "(function() local t = {} for k, v in ('a=1, b=2'):gmatch('(%w+)=(%w+)') do t[#t + 1] = k .. v end return table.concat(t, ';') end)()",
        "(function() local t = {} for at in ('abc'):gmatch('()') do t[#t + 1] = at end return table.concat(t, ';') end)()",
        "(function() local t = {} for w in ('^a^a'):gmatch('^a') do t[#t + 1] = w end return table.concat(t, ';') end)()",
        "(function() local t = {} for w in ('one two'):gmatch('%a*') do t[#t + 1] = w end return table.concat(t, ';') end)()",
    ] {
        let text = format!("return {text}");
        let expected = shown(&plain, &text);
        assert!(expected.is_ok(), "{text}: {expected:?}");
        assert_eq!(shown(&own, &text), expected, "{text}");
    }
    for text in [
        "('x'):match('(x')",
        "('x'):match('%')",
        "('x'):match('[x')",
        "('x'):match('x)')",
        "('x'):gsub('x', '%9')",
        "('x'):gsub('x')",
    ] {
        for lua in [&plain, &own] {
            assert!(shown(lua, &format!("return {text}")).is_err(), "{text}");
        }
    }
}

proptest! {
    #[test]
    fn any_pattern_that_is_read_finds_what_luajit_finds(
        subject in "[ab1. ()^%-]{0,12}",
        pattern in "\\^?([ab.]|%[adswbf1]|%w|\\[\\^?[ab1-9%w]{1,3}\\]|\\(|\\)|\\(\\)|[*+?-]|%b\\(\\)|%f\\[%w\\]){0,7}\\$?",
        from in -3..8_i32,
    ) {
        let [plain, own] = both();
        for call in ["find(s, p, f)", "match(s, p, f)", "gsub(s, p, '<%0>')"] {
            let text = format!("local s, p, f = {subject:?}, {pattern:?}, {from} return string.{call}");
            // What is never reached is no mistake to LuaJIT.
            if let Ok(found) = shown(&own, &text) {
                prop_assert_eq!(shown(&plain, &text), Ok(found), "{}", text);
            }
        }
    }
}
