-- What scripts find besides the safe part of the standard library. `host` is what Rust gives.
local host = ...
local concat, getfenv, load_any, next, pcall, select = table.concat, getfenv, load, next, pcall, select
local sort_by, sub, tostring, type = table.sort, string.sub, tostring, type

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

-- Patterns: `find` has the limit of time.
local find, error = string.find, error

-- The captures of a match, or all of it.
local function captured(text, first, last, ...)
    if select("#", ...) == 0 then
        return sub(text, first, last)
    end
    return ...
end

function string.gmatch(text, pattern)
    text = tostring(text)
    -- `^` is a character here.
    pattern = sub(pattern, 1, 1) == "^" and "%" .. pattern or pattern
    local from = 1
    local function next_match(first, last, ...)
        if not first then
            from = nil
            return nil
        end
        -- An empty match is followed by a later one.
        from = last < first and last + 2 or last + 1
        return captured(text, first, last, ...)
    end
    return function()
        if not from or from > #text + 1 then
            return nil
        end
        return next_match(find(text, pattern, from))
    end
end

string.gfind = string.gmatch

-- What takes the place of a match.
local function replaced(text, with, first, last, ...)
    local kind, value = type(with), nil
    local whole = sub(text, first, last)
    if kind == "function" then
        value = with(captured(text, first, last, ...))
    elseif kind == "table" then
        value = with[(captured(text, first, last, ...))]
    else
        local captures, count = { ... }, select("#", ...)
        local parts, at = {}, 1
        while true do
            local mark = find(with, "%", at, true)
            if not mark then
                parts[#parts + 1] = sub(with, at)
                return concat(parts)
            end
            parts[#parts + 1] = sub(with, at, mark - 1)
            local digit = sub(with, mark + 1, mark + 1)
            if digit == "0" or digit == "1" and count == 0 then
                parts[#parts + 1] = whole
            elseif find(digit, "^%d$") then
                local capture = captures[digit + 0]
                if not capture then
                    error("invalid capture index", 3)
                end
                parts[#parts + 1] = capture
            else
                parts[#parts + 1] = digit
            end
            at = mark + 2
        end
    end
    if not value then
        return whole
    end
    if type(value) ~= "string" and type(value) ~= "number" then
        error("invalid replacement value (a " .. type(value) .. ")", 3)
    end
    return value
end

function string.gsub(text, pattern, with, most)
    text, pattern = tostring(text), tostring(pattern)
    local kind = type(with)
    if kind == "number" then
        with = tostring(with)
    elseif kind ~= "string" and kind ~= "table" and kind ~= "function" then
        error("bad argument #3 to 'gsub' (string/function/table expected, got " .. kind .. ")", 2)
    end
    local parts, from, count, is_anchored = {}, 1, 0, sub(pattern, 1, 1) == "^"
    -- The place to go on from; without one, all is done.
    local function take(first, last, ...)
        if not first then
            return nil
        end
        count = count + 1
        parts[#parts + 1] = sub(text, from, first - 1)
        parts[#parts + 1] = replaced(text, with, first, last, ...)
        if last < first then
            parts[#parts + 1] = sub(text, first, first)
            return first + 1
        end
        return last + 1
    end
    while from and from <= #text + 1 and count < (most or count + 1) do
        local next_from = take(find(text, pattern, from))
        if not next_from then
            break
        end
        from = next_from
        if is_anchored then
            break
        end
    end
    parts[#parts + 1] = sub(text, from)
    return concat(parts), count
end
