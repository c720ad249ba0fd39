-- gRPC on lua-http: messages with a length before each, and the status in HTTP/2's trailers.

local cqueues = require "cqueues"
local http_headers = require "http.headers"
local pack = require "compat53.string".pack
local unpack_from = require "compat53.string".unpack

local grpc = {}

local most_bytes = 4 * 1024 * 1024

-- Ends a call with a status: for methods.
function grpc.fail(code, message)
	error({ grpc_status = code, message = message }, 0)
end

local Call = {}
Call.__index = Call

-- Iterates over the requests of a call.
function Call:requests()
	local bytes, at = "", 1
	return function()
		while true do
			if #bytes - at + 1 >= 5 then
				local compressed, size, start = unpack_from(">BI4", bytes, at)
				if compressed ~= 0 then
					grpc.fail(12, "compression is not supported")
				elseif size > most_bytes then
					grpc.fail(8, "a request is too long")
				elseif #bytes - start + 1 >= size then
					at = start + size
					return bytes:sub(start, at - 1)
				end
			end
			local chunk, broken_off = self.stream:get_next_chunk()
			if not chunk then
				if broken_off then
					error(broken_off, 0)
				elseif at <= #bytes then
					grpc.fail(13, "a request is cut short")
				end
				return nil
			end
			bytes, at = bytes:sub(at) .. chunk, 1
		end
	end
end

-- Returns the only request of a call.
function Call:request()
	local only
	for request in self:requests() do
		if only then
			grpc.fail(12, "more than one request")
		end
		only = request
	end
	return only or grpc.fail(12, "no request")
end

-- Nothing may be encoded that cannot be sent: the client's header table would lag behind ours.
function Call:is_over()
	return self.stream.state == "closed"
end

-- Sends replies; waits while the client's window is closed.
function Call:send(replies)
	if self:is_over() then
		error("the client has gone", 0)
	end
	if not self.begun then
		local headers = http_headers.new()
		headers:append(":status", "200")
		headers:append("content-type", "application/grpc")
		assert(self.stream:write_headers(headers, false))
		self.begun = true
	end
	assert(self.stream:write_chunk(replies, false))
	cqueues.sleep(0) -- others have their turn, even if there was no need to wait
end

function Call:finish(code, message)
	if self:is_over() then
		return
	end
	local trailers = http_headers.new()
	if not self.begun then
		trailers:append(":status", "200")
		trailers:append("content-type", "application/grpc")
	end
	trailers:append("grpc-status", tostring(code))
	if message then
		trailers:append("grpc-message", message)
	end
	-- `write_headers` would want a `:status` in trailers too: lua-http's issue 236.
	local encoder = self.stream.connection.encoding_context
	encoder:encode_headers(trailers)
	local block = encoder:render_data()
	encoder:clear_data()
	assert(self.stream:write_headers_frame(block, true, true))
end

local function is_grpc(headers)
	local rest = (headers:get("content-type") or ""):match("^application/grpc(.*)$")
	return rest and (rest == "" or rest:find("^[+;]"))
end

-- Returns lua-http's `onstream` for a service: methods by their paths.
function grpc.serve(service)
	return function(_, stream)
		local headers = stream:get_headers()
		if not headers then
			return -- the client has gone
		end
		if not is_grpc(headers) then
			local refusal = http_headers.new()
			refusal:append(":status", "415")
			assert(stream:write_headers(refusal, true))
			return
		end
		local call = setmetatable({ stream = stream }, Call)
		local method = service[headers:get(":path")]
		if not method then
			return call:finish(12, "no such method")
		end
		local ok, failure = pcall(method, call)
		if ok then
			call:finish(0)
		elseif type(failure) == "table" and failure.grpc_status then
			call:finish(failure.grpc_status, failure.message)
		end -- else the client has gone
	end
end

-- Returns a message with its length.
function grpc.message(body)
	return pack(">BI4", 0, #body) .. body
end

return grpc
