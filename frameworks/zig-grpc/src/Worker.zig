//! A thread with an epoll of its own: it serves the connections that are given to it.

const std = @import("std");
const connections = @import("connection.zig");

const linux = std.os.linux;
const Allocator = std.mem.Allocator;
const Connection = connections.Connection;
const Worker = @This();

epoll: linux.fd_t,

pub fn start(gpa: Allocator) !Worker {
    const result = linux.epoll_create1(linux.EPOLL.CLOEXEC);
    if (linux.errno(result) != .SUCCESS) return error.SystemResources;
    const epoll: linux.fd_t = @intCast(result);
    const buffers = try gpa.create(connections.Buffers);
    buffers.* = .{};
    const thread = try std.Thread.spawn(.{}, serve, .{ epoll, buffers });
    thread.detach();
    return .{ .epoll = epoll };
}

/// Takes the connection over, from any thread.
pub fn adopt(worker: Worker, connection: *Connection) void {
    control(worker.epoll, linux.EPOLL.CTL_ADD, connection) catch connection.destroy();
}

fn serve(epoll: linux.fd_t, buffers: *connections.Buffers) void {
    var events: [64]linux.epoll_event = undefined;
    while (true) {
        const count = linux.epoll_wait(epoll, &events, events.len, -1);
        if (linux.errno(count) != .SUCCESS) continue; // a signal
        for (events[0..count]) |event| {
            const connection: *Connection = @ptrFromInt(event.data.ptr);
            turn(epoll, connection, buffers) catch connection.destroy();
        }
    }
}

fn turn(epoll: linux.fd_t, connection: *Connection, buffers: *connections.Buffers) !void {
    const interest = try connection.serve(buffers);
    if (interest == connection.interest) return;
    connection.interest = interest;
    try control(epoll, linux.EPOLL.CTL_MOD, connection);
}

fn control(epoll: linux.fd_t, operation: u32, connection: *Connection) !void {
    var event: linux.epoll_event = .{
        .events = connection.interest,
        .data = .{ .ptr = @intFromPtr(connection) },
    };
    const result = linux.epoll_ctl(epoll, operation, connection.socket, &event);
    if (linux.errno(result) != .SUCCESS) return error.SystemResources;
}
