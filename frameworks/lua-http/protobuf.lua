-- The part of protobuf's encoding that messages of int32 need.

local bit = require "bit"

local band, bor, lshift, rshift = bit.band, bit.bor, bit.lshift, bit.rshift

local protobuf = {}

-- Returns the low 32 bits of a varint and where the next thing begins; nil if there is none.
local function varint(text, at)
	local value = 0
	for i = 0, 9 do
		local byte = text:byte(at + i)
		if not byte then
			return nil
		end
		if i < 5 then
			value = bor(value, lshift(band(byte, 0x7f), 7 * i))
		end
		if byte < 0x80 then
			return value, at + i + 1
		end
	end
	return nil
end

-- Where a field ends that is not an int32; nil if it is none of proto3's.
local function skip(kind, text, at)
	if kind == 1 then
		return at + 8
	elseif kind == 5 then
		return at + 4
	elseif kind == 2 then
		local size, start = varint(text, at)
		return size and size >= 0 and start + size or nil
	end
	return nil
end

-- Returns the int32 fields of a message by their numbers; nil if it is malformed.
function protobuf.parse(text)
	local fields = {}
	local at = 1
	while at <= #text do
		local tag, value = varint(text, at)
		if not tag or rshift(tag, 3) == 0 then
			return nil
		end
		if band(tag, 7) == 0 then
			fields[rshift(tag, 3)], at = varint(text, value)
		else
			at = skip(band(tag, 7), text, value)
		end
		if not at then
			return nil
		end
	end
	return at == #text + 1 and fields or nil
end

-- Returns an int32 as a field. proto3 leaves out what is 0.
function protobuf.int32(field, value)
	if value == 0 then
		return ""
	end
	local bytes = { lshift(field, 3) }
	local rest = value
	for _ = 1, 4 do
		if rest >= 0 and rest < 0x80 then
			break
		end
		bytes[#bytes + 1] = bor(band(rest, 0x7f), 0x80)
		rest = rshift(rest, 7)
	end
	if value >= 0 then
		return string.char(unpack(bytes)) .. string.char(rest)
	end
	-- An int64 on the wire: 32 more bits, all set.
	return string.char(unpack(bytes)) .. string.char(bor(rest, 0xf0)) .. "\255\255\255\255\1"
end

return protobuf
