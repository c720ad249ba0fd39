-- benchmark.BenchmarkService. Sums wrap around, as those of int32 do: `tobit` cuts them.

local tobit = require "bit".tobit
local grpc = require "grpc"
local protobuf = require "protobuf"

-- A DATA frame's most.
local full_frame = 16384

local function parse(request)
	return protobuf.parse(request) or grpc.fail(13, "cannot parse the request")
end

local function sum_of(request)
	return tobit((request[1] or 0) + (request[2] or 0))
end

local function reply(result)
	return grpc.message(protobuf.int32(1, result))
end

local function get_sum(call)
	call:send(reply(sum_of(parse(call:request()))))
end

local function stream_sum(call)
	local request = parse(call:request())
	local first = sum_of(request)
	local replies, size = {}, 0
	for i = 0, math.max(request[3] or 0, 1) - 1 do
		local next_reply = reply(tobit(first + i))
		if size + #next_reply > full_frame then
			call:send(table.concat(replies))
			replies, size = {}, 0
		end
		replies[#replies + 1] = next_reply
		size = size + #next_reply
	end
	call:send(table.concat(replies))
end

local function collect_sum(call)
	local total = 0
	for request in call:requests() do
		total = tobit(total + sum_of(parse(request)))
	end
	call:send(reply(total))
end

local function echo_sum(call)
	for request in call:requests() do
		call:send(reply(sum_of(parse(request))))
	end
end

return {
	["/benchmark.BenchmarkService/GetSum"] = get_sum,
	["/benchmark.BenchmarkService/StreamSum"] = stream_sum,
	["/benchmark.BenchmarkService/CollectSum"] = collect_sum,
	["/benchmark.BenchmarkService/EchoSum"] = echo_sum,
}
