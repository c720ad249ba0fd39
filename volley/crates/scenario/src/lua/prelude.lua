-- What scripts find besides the safe part of the standard library. `host` is what Rust gives.
local host = ...
local concat, date, error, getfenv, load_any, next = table.concat, os.date, error, getfenv, load, next
local pcall, select, sort_by, sub, tostring, type = pcall, select, table.sort, string.sub, tostring, type

-- The limit of time is checked in Lua code only: a handler of `xpcall` is called when the error is over, ...
local function handled(handler, ok, ...)
    if ok then
        return true, ...
    end
    return false, handler(...)
end

function xpcall(f, handler, ...)
    return handled(handler, pcall(f, ...))
end

-- ... and each comparison is one of Lua.
local function is_before(a, b)
    return a < b
end

function table.sort(list, before)
    return sort_by(list, before or is_before)
end

-- A format of many MiB would take as many seconds.
function os.date(format, time)
    if type(format) == "string" and #format > 1000 then
        error("os.date: a format has at most 1000 bytes", 2)
    end
    return date(format, time)
end

string.gfind = string.gmatch

-- Text only: bytecode can do anything.
function load(chunk, name, mode, env)
    return load_any(chunk, name, "t", env or getfenv(2))
end

function loadstring(text, name)
    return load_any(text, name, "t", getfenv(2))
end

function print(...)
    local words = {}
    for at = 1, select("#", ...) do
        words[at] = tostring((select(at, ...)))
    end
    host.print(concat(words, "\t"))
end

-- A check that has failed. It is none that `pcall` forgets.
function fail(why)
    host.fail(why == nil and "fail() gives no reason" or tostring(why))
    error(host.failed, 0)
end

-- What make_request has changed: one string of names and values, each followed by NUL. The value of a header that is not
-- sent any more is a line break. `known`: the `count` headers that there were, and those values that are always the same.
local list = {}

function host.flat(known, count, headers, body)
    if type(headers) ~= "table" then
        error("make_request returned no table of headers but " .. type(headers), 0)
    end
    local n, same = 0, 0
    for name, value in next, headers do
        local was = known[name]
        if was ~= nil then
            same = same + 1
        end
        if was ~= value then
            local kind = type(value)
            if type(name) ~= "string" or kind ~= "string" and kind ~= "number" then
                error("make_request returned a header `" .. tostring(name) .. "` that is no text but " .. kind, 0)
            end
            list[n + 1], list[n + 2] = name, value
            n = n + 2
        end
    end
    if same < count then
        for name in next, known do
            if headers[name] == nil then
                list[n + 1], list[n + 2] = name, "\n"
                n = n + 2
            end
        end
    end
    list[n + 1] = ""
    return concat(list, "\0", 1, n + 1), body
end

host.sub = sub
