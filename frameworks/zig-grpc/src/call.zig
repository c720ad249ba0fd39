//! A gRPC call without HTTP/2: headers and request bytes in, reply bytes and a status out.

const std = @import("std");
const protobuf = @import("protobuf.zig");

const Allocator = std.mem.Allocator;

pub const Status = struct {
    code: []const u8,
    message: []const u8,

    const ok: Status = .{ .code = "0", .message = "" };
    const too_long: Status = .{ .code = "8", .message = "a request is too long" };
    const not_one_request: Status = .{ .code = "12", .message = "not one request" };
    const unknown_method: Status = .{ .code = "12", .message = "no such method" };
    const compressed: Status = .{ .code = "12", .message = "compression is not supported" };
    const malformed: Status = .{ .code = "13", .message = "cannot parse the request" };
    const cut_short: Status = .{ .code = "13", .message = "a request is cut short" };
};

const Method = enum { unknown, GetSum, StreamSum, CollectSum, EchoSum };

const service = "/benchmark.BenchmarkService/";
const prefix_size = 5;
const most_bytes = 4 << 20;
const longest_reply = prefix_size + protobuf.longest_reply;

pub const Call = struct {
    /// What it ends with when its replies are sent; null as long as there may be more.
    status: ?Status = null,
    is_grpc: bool = false,
    method: Method = .unknown,

    /// The beginning of a request.
    partial: std.ArrayList(u8) = .empty,
    received: bool = false,

    /// Replies to make: `left` of them from `next` on. GetSum and CollectSum make a run of one.
    next: u32 = 0,
    left: u32 = 0,
    count: u32 = 1,

    /// EchoSum's results that are not sent yet.
    sums: std.ArrayList(u32) = .empty,
    sums_sent: usize = 0,

    /// A reply that a frame had not enough room for.
    cut: [longest_reply]u8 = undefined,
    cut_sent: usize = 0,
    cut_size: usize = 0,

    pub fn deinit(call: *Call, gpa: Allocator) void {
        call.partial.deinit(gpa);
        call.sums.deinit(gpa);
    }

    pub fn takeHeader(call: *Call, name: []const u8, value: []const u8) void {
        if (std.mem.eql(u8, name, ":path")) {
            if (!std.mem.startsWith(u8, value, service)) return;
            call.method = std.meta.stringToEnum(Method, value[service.len..]) orelse .unknown;
        } else if (std.mem.eql(u8, name, "content-type")) {
            const grpc = "application/grpc";
            call.is_grpc = std.mem.startsWith(u8, value, grpc) and
                (value.len == grpc.len or value[grpc.len] == '+' or value[grpc.len] == ';');
        }
    }

    pub fn endHeaders(call: *Call) void {
        if (call.method == .unknown) call.fail(.unknown_method);
    }

    /// Takes a part of the body. Its requests need not begin or end where it does.
    pub fn takeBody(call: *Call, gpa: Allocator, body: []const u8) error{OutOfMemory}!void {
        if (call.status != null) return;
        if (call.partial.items.len == 0) {
            const rest = try call.takeRequests(gpa, body);
            return call.partial.appendSlice(gpa, rest);
        }
        try call.partial.appendSlice(gpa, body);
        const rest = try call.takeRequests(gpa, call.partial.items);
        std.mem.copyForwards(u8, call.partial.items, rest);
        call.partial.shrinkRetainingCapacity(rest.len);
    }

    /// The client has sent all of its requests.
    pub fn endBody(call: *Call) void {
        if (call.status != null) return;
        if (call.partial.items.len > 0) return call.fail(.cut_short);
        switch (call.method) {
            .EchoSum => {},
            .CollectSum => call.left = 1,
            else => {
                if (!call.received) return call.fail(.not_one_request);
                call.left = call.count;
            },
        }
        call.status = .ok;
    }

    pub fn hasReplies(call: *const Call) bool {
        return call.left > 0 or call.sums_sent < call.sums.items.len or
            call.cut_sent < call.cut_size;
    }

    /// Makes as many replies as there are and as there is room for; returns their length.
    pub fn makeReplies(call: *Call, out: []u8) usize {
        var size: usize = 0;
        while (size < out.len) {
            if (call.cut_sent < call.cut_size) {
                const part = @min(call.cut_size - call.cut_sent, out.len - size);
                @memcpy(out[size..][0..part], call.cut[call.cut_sent..][0..part]);
                call.cut_sent += part;
                size += part;
                continue;
            }
            const result = call.nextResult() orelse break;
            if (out.len - size >= longest_reply) {
                size += encode(out[size..][0..longest_reply], result);
            } else {
                call.cut_size = encode(&call.cut, result);
                call.cut_sent = 0;
            }
        }
        return size;
    }

    fn nextResult(call: *Call) ?u32 {
        if (call.left > 0) {
            defer call.next +%= 1;
            call.left -= 1;
            return call.next;
        }
        if (call.sums_sent == call.sums.items.len) {
            call.sums.clearRetainingCapacity();
            call.sums_sent = 0;
            return null;
        }
        defer call.sums_sent += 1;
        return call.sums.items[call.sums_sent];
    }

    /// Takes all whole requests and returns the rest.
    fn takeRequests(call: *Call, gpa: Allocator, bytes: []const u8) ![]const u8 {
        var rest = bytes;
        while (rest.len >= prefix_size) {
            const size = std.mem.readInt(u32, rest[1..prefix_size], .big);
            if (rest[0] != 0) {
                call.fail(.compressed);
            } else if (size > most_bytes) {
                call.fail(.too_long);
            } else {
                if (rest.len - prefix_size < size) break;
                try call.takeRequest(gpa, rest[prefix_size..][0..size]);
                rest = rest[prefix_size + size ..];
            }
            if (call.status != null) return "";
        }
        return rest;
    }

    fn takeRequest(call: *Call, gpa: Allocator, message: []const u8) !void {
        const request = protobuf.parse(message) catch return call.fail(.malformed);
        const sum = request.a +% request.b;
        switch (call.method) {
            .EchoSum => try call.sums.append(gpa, sum),
            .CollectSum => call.next +%= sum,
            .GetSum, .StreamSum => {
                if (call.received) return call.fail(.not_one_request);
                call.received = true;
                call.next = sum;
                const count: i32 = @bitCast(request.count);
                call.count = @intCast(@max(count, 1));
            },
            .unknown => {},
        }
    }

    fn fail(call: *Call, status: Status) void {
        call.status = status;
        call.left = 0;
        call.sums.clearRetainingCapacity();
        call.sums_sent = 0;
    }
};

/// Writes a reply with its prefix and returns its length.
fn encode(out: *[longest_reply]u8, result: u32) usize {
    const size = protobuf.encodeReply(out[prefix_size..], result);
    out[0] = 0;
    std.mem.writeInt(u32, out[1..prefix_size], @intCast(size), .big);
    return prefix_size + size;
}
