// One worker process: connect-node behind both kinds of Node's HTTP/2 server.

import { once } from "node:events";
import { createSecureServer, createServer } from "node:http2";
import type { ServerHttp2Session } from "node:http2";

import { connectNodeAdapter } from "@connectrpc/connect-node";

import { BenchmarkService } from "./gen/benchmark_pb.js";
import { benchmarkService } from "./service.js";
import { H2C_PORT, TLS_PORT, loadCertificate } from "./settings.js";

// Calls still open this long after a stop signal are broken off.
const STOP_GRACE_MS = 1000;

const handler = connectNodeAdapter({
  routes: (router) => router.service(BenchmarkService, benchmarkService),
});
const servers = [
  createServer(handler).listen(H2C_PORT),
  createSecureServer(loadCertificate(), handler).listen(TLS_PORT),
];

// Node closes a server's port, but not the connections that it has.
const sessions = new Set<ServerHttp2Session>();
for (const server of servers) {
  server.on("session", (session) => {
    sessions.add(session);
    session.once("close", () => sessions.delete(session));
  });
}

for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, stop);

async function stop(): Promise<void> {
  setTimeout(() => process.exit(), STOP_GRACE_MS);
  const closed = servers.map((server) => once(server, "close"));
  for (const server of servers) server.close();
  for (const session of sessions) session.close();
  await Promise.all(closed);
  process.exit();
}
