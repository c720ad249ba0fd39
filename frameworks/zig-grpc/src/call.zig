//! A gRPC call without HTTP/2: headers and request bytes in, reply bytes and a status out.
//! What it replies is the service's.

const std = @import("std");
const protobuf = @import("protobuf.zig");
const service = @import("service.zig");

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

const path = "/benchmark.BenchmarkService/";
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
    /// The only one of GetSum and StreamSum.
    request: ?protobuf.Request = null,
    collected: service.CollectSum = .{},

    /// The next result to send, and where those after it come from.
    result: ?u32 = null,
    stream: ?service.StreamSum = null,

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
            if (!std.mem.startsWith(u8, value, path)) return;
            call.method = std.meta.stringToEnum(Method, value[path.len..]) orelse .unknown;
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
            .GetSum => {
                const request = call.request orelse return call.fail(.not_one_request);
                call.result = service.getSum(request) catch return call.refuse();
            },
            .StreamSum => {
                const request = call.request orelse return call.fail(.not_one_request);
                call.stream = service.StreamSum.init(request) catch return call.refuse();
                call.result = call.stream.?.next();
            },
            .CollectSum => {
                call.result = call.collected.result() catch return call.refuse();
            },
            .EchoSum, .unknown => {},
        }
        call.status = .ok;
    }

    pub fn hasReplies(call: *const Call) bool {
        return call.result != null or call.sums_sent < call.sums.items.len or
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
        if (call.result) |result| {
            call.result = if (call.stream) |*stream| stream.next() else null;
            return result;
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
        switch (call.method) {
            .GetSum, .StreamSum => {
                if (call.request != null) return call.fail(.not_one_request);
                call.request = request;
            },
            .CollectSum => call.collected.take(request) catch return call.refuse(),
            .EchoSum => {
                const sum = service.echoSum(request) catch return call.refuse();
                try call.sums.append(gpa, sum);
            },
            .unknown => {},
        }
    }

    /// The service has no result, but an error.
    fn refuse(call: *Call) void {
        call.fail(.{ .code = "12", .message = switch (call.method) {
            inline else => |method| @tagName(method) ++ " is not implemented",
        } });
    }

    fn fail(call: *Call, status: Status) void {
        call.status = status;
        call.result = null;
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
