//! The four calls: requests in, results out. Unsigned, since sums wrap around.

const Request = @import("protobuf.zig").Request;

/// One result.
pub fn getSum(request: Request) !u32 {
    return request.a +% request.b;
}

/// At least one result. The next is asked for when HTTP/2 has room for it.
pub const StreamSum = struct {
    result: u32,
    left: u32,

    pub fn init(request: Request) !StreamSum {
        const count: i32 = @bitCast(request.count);
        return .{ .result = request.a +% request.b, .left = @intCast(@max(count, 1)) };
    }

    pub fn next(call: *StreamSum) ?u32 {
        if (call.left == 0) return null;
        defer call.result +%= 1;
        call.left -= 1;
        return call.result;
    }
};

/// One result when the requests have ended.
pub const CollectSum = struct {
    total: u32 = 0,

    pub fn take(call: *CollectSum, request: Request) !void {
        call.total +%= request.a +% request.b;
    }

    pub fn result(call: CollectSum) !u32 {
        return call.total;
    }
};

/// A result for each request.
pub fn echoSum(request: Request) !u32 {
    return request.a +% request.b;
}
