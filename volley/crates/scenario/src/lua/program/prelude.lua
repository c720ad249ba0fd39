-- What programs find besides what scripts do. `host` is what Rust gives.
local host = ...
local concat, create, error, next, running = table.concat, coroutine.create, error, next, coroutine.running
local setmetatable, tonumber, tostring, type, yield = setmetatable, tonumber, tostring, type, coroutine.yield

-- The coroutines that Rust resumes: no others can wait.
local own = setmetatable({}, { __mode = "k" })

function host.start(f)
    local thread = create(f)
    own[thread] = true
    return thread
end

function coroutine.yield(...)
    if own[running() or host] then
        error("coroutine.yield: only a coroutine that the program makes itself can yield", 2)
    end
    return yield(...)
end

-- All callers call this last, so that level 2 is a line of the program.
local function wait(name, ...)
    if not own[running() or host] then
        error(name .. " waits, which a coroutine that the program makes itself cannot do", 2)
    end
    return yield(...)
end

-- Names and values with NUL between them, and their number; nothing if these are no headers.
local function flat(headers)
    if type(headers) ~= "table" then
        return false, 0
    end
    local list, n = {}, 0
    for name, value in next, headers do
        local kind = type(value)
        if type(name) ~= "string" or kind ~= "string" and kind ~= "number" then
            return false, 0
        end
        list[n + 1], list[n + 2] = name, value
        n = n + 2
    end
    return concat(list, "\0"), n
end

host.flat = flat

local function send(name, waits, kind, headers, body, timeout)
    local list, count = flat(headers)
    return wait(name, "send", waits, kind, list, count, body or "", timeout or 0)
end

-- The coroutines that have their number.
local numbered = setmetatable({}, { __mode = "k" })

function setup_parallel_test(threads, connections, coroutines)
    local thread = running() or host
    if numbered[thread] then
        error("setup_parallel_test: this coroutine has called it before", 2)
    end
    numbered[thread] = true
    threads, connections, coroutines = tonumber(threads) or 0, tonumber(connections) or 0, tonumber(coroutines) or 0
    host.is_group(threads, connections, coroutines)
    return wait("setup_parallel_test", "set_up", threads, connections, coroutines)
end

function make_connection(url)
    return wait("make_connection", "connect", url)
end

function send_http_request(headers, body, timeout)
    return send("send_http_request", false, "http", headers, body, timeout)
end

function send_http_request_and_await_response(headers, body, timeout)
    return send("send_http_request_and_await_response", true, "http", headers, body, timeout)
end

function forward_http_request_and_await_response(headers, body, timeout)
    return send("forward_http_request_and_await_response", true, "forward", headers, body, timeout)
end

function send_grpc_request_and_await_response(headers, message, timeout)
    return send("send_grpc_request_and_await_response", true, "grpc", headers, message, timeout)
end

function await_response(client, stream)
    return wait("await_response", "await", tonumber(client) or -1, tonumber(stream) or -1)
end

-- Level 3 is a line of the program.
local function no_time(name, value)
    error(name .. " needs a number of ms, and not `" .. tostring(value) .. "`", 3)
end

function sleep_for_ms(ms)
    return wait("sleep_for_ms", "sleep", tonumber(ms or 0) or no_time("sleep_for_ms", ms))
end

function resolve_hostname(name, ttl)
    return wait("resolve_hostname", "resolve", name, tonumber(ttl or 5000) or no_time("resolve_hostname", ttl))
end

function wait_for_message()
    return wait("wait_for_message", "wait")
end

function send_response(address, headers, body, trailers)
    local list, count = flat(headers)
    local last, last_count = flat(trailers)
    return host.respond(address, list, count, body or "", last, last_count, true)
end

-- As it is: with trailers, the body is one of gRPC already.
function forward_response(address, headers, body, trailers)
    local list, count = flat(headers)
    local last, last_count = flat(trailers)
    return host.respond(address, list, count, body or "", last, last_count, false)
end
