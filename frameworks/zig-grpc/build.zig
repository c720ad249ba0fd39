const std = @import("std");

pub fn build(b: *std.Build) void {
    // Not for this host's CPU model alone.
    const target = b.standardTargetOptions(.{ .default_target = .{ .cpu_model = .baseline } });
    const optimize = b.standardOptimizeOption(.{ .preferred_optimize_mode = .fast });

    const c = b.addTranslateC(.{
        .root_source_file = b.path("src/c.h"),
        .target = target,
        .optimize = optimize,
    });
    c.linkSystemLibrary("libnghttp2", .{});
    c.linkSystemLibrary("openssl", .{});

    b.installArtifact(b.addExecutable(.{
        .name = "server",
        .root_module = b.createModule(.{
            .root_source_file = b.path("src/main.zig"),
            .target = target,
            .optimize = optimize,
            .imports = &.{.{ .name = "c", .module = c.createModule() }},
        }),
    }));
}
