//! benchmark.BenchmarkService on nghttp2: h2c on port 8080, TLS on port 8443.

const std = @import("std");
const c = @import("c");
const startup = @import("startup.zig");
const Connection = @import("connection.zig").Connection;
const Worker = @import("Worker.zig");

const linux = std.os.linux;
const posix = std.posix;

/// When there are no descriptors left, clients wait in the queue until one is free.
const pause_ms = 50;

pub fn main(init: std.process.Init) !void {
    const stop = try stopSignals();
    const environ = init.minimal.environ;
    const context = startup.tlsContext(
        environ.getPosix("TLS_CERT") orelse "/certs/server.crt",
        environ.getPosix("TLS_KEY") orelse "/certs/server.key",
    );
    const h2c = startup.listen(environ.getPosix("PORT_H2C") orelse "8080");
    const tls = startup.listen(environ.getPosix("PORT_TLS") orelse "8443");
    raiseDescriptorLimit();

    const workers = try init.arena.allocator().alloc(Worker, usableCpus());
    for (workers) |*worker| worker.* = try .start(init.gpa);

    var turn: usize = 0;
    var ready = [_]posix.pollfd{
        .{ .fd = stop, .events = posix.POLL.IN },
        .{ .fd = h2c, .events = posix.POLL.IN },
        .{ .fd = tls, .events = posix.POLL.IN },
    };
    while (true) {
        _ = try posix.poll(&ready, -1);
        if (ready[0].revents != 0) std.process.exit(0);
        for (ready[1..], [_]?*c.SSL_CTX{ null, context }) |listener, with| {
            if (listener.revents == 0) continue;
            const socket = accept(listener.fd) orelse continue;
            const connection = Connection.create(init.gpa, socket, with) catch continue;
            workers[turn % workers.len].adopt(connection);
            turn +%= 1;
        }
    }
}

/// Blocks the stop signals in this thread and those it will start; returns a descriptor that is
/// readable when one has come.
fn stopSignals() !posix.fd_t {
    var signals = posix.sigemptyset();
    posix.sigaddset(&signals, .TERM);
    posix.sigaddset(&signals, .INT);
    posix.sigprocmask(posix.SIG.BLOCK, &signals, null);
    return posix.signalfd(-1, &signals, linux.SFD.CLOEXEC);
}

/// Each client is a descriptor: as many as the system lets us have.
fn raiseDescriptorLimit() void {
    var limit = posix.getrlimit(.NOFILE) catch return;
    limit.cur = limit.max;
    posix.setrlimit(.NOFILE, limit) catch {};
}

fn usableCpus() usize {
    return std.Thread.getCpuCount() catch 1;
}

/// Returns the next client's socket, null if there is none now.
fn accept(listener: linux.fd_t) ?linux.fd_t {
    const flags = linux.SOCK.NONBLOCK | linux.SOCK.CLOEXEC;
    const result = linux.accept4(listener, null, null, flags);
    switch (linux.errno(result)) {
        .SUCCESS => return @intCast(result),
        .MFILE, .NFILE, .NOBUFS, .NOMEM => {
            _ = posix.poll(&.{}, pause_ms) catch {};
            return null;
        },
        else => return null,
    }
}
