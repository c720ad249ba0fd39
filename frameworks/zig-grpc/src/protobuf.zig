//! The messages of benchmark.proto.

const std = @import("std");

/// SumRequest and StreamRequest in one: the former has no count. Unsigned, since sums wrap around.
pub const Request = struct { a: u32 = 0, b: u32 = 0, count: u32 = 0 };

pub const longest_reply = 11;

pub fn parse(message: []const u8) error{Malformed}!Request {
    var request: Request = .{};
    var rest = message;
    while (rest.len > 0) {
        const tag = try takeVarint(&rest);
        switch (tag & 7) {
            0 => {
                // A negative int32 has ten bytes, being an int64 on the wire; the upper ones go.
                const value: u32 = @truncate(try takeVarint(&rest));
                switch (tag >> 3) {
                    0 => return error.Malformed,
                    1 => request.a = value,
                    2 => request.b = value,
                    3 => request.count = value,
                    else => {},
                }
            },
            1 => try skip(&rest, 8),
            2 => try skip(&rest, try takeVarint(&rest)),
            5 => try skip(&rest, 4),
            else => return error.Malformed, // groups, which proto3 does not have
        }
    }
    return request;
}

/// Writes a SumReply and returns its length.
pub fn encodeReply(out: *[longest_reply]u8, result: u32) usize {
    if (result == 0) return 0; // proto3 leaves it out
    const signed: i32 = @bitCast(result);
    var value: u64 = @bitCast(@as(i64, signed));
    out[0] = 1 << 3;
    var size: usize = 1;
    while (value >= 0x80) : (value >>= 7) {
        out[size] = @as(u8, @truncate(value)) | 0x80;
        size += 1;
    }
    out[size] = @truncate(value);
    return size + 1;
}

fn takeVarint(rest: *[]const u8) error{Malformed}!u64 {
    var value: u64 = 0;
    for (rest.*[0..@min(rest.len, 10)], 0..) |byte, i| {
        value |= @as(u64, byte & 0x7f) << @intCast(7 * i);
        if (byte < 0x80) {
            rest.* = rest.*[i + 1 ..];
            return value;
        }
    }
    return error.Malformed;
}

fn skip(rest: *[]const u8, count: u64) error{Malformed}!void {
    if (count > rest.len) return error.Malformed;
    rest.* = rest.*[@intCast(count)..];
}
