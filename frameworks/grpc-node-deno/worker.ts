// One worker process: a grpc-js server on both ports.

import process from "node:process";
import { fileURLToPath } from "node:url";

import * as grpc from "@grpc/grpc-js";
import * as protoLoader from "@grpc/proto-loader";

import { benchmarkService } from "./service.ts";
import { H2C_PORT, loadCertificate, TLS_PORT } from "./settings.ts";

// Calls still open this long after a stop signal are broken off.
const STOP_GRACE_MS = 1000;

const definition = protoLoader.loadSync(
  fileURLToPath(new URL("benchmark.proto", import.meta.url)),
  // Fields that were not sent have their default value instead of being undefined.
  { defaults: true },
);
const service = definition["benchmark.BenchmarkService"] as grpc.ServiceDefinition;

const server = new grpc.Server();
server.addService(service, benchmarkService);

const { cert, key } = loadCertificate();
await listen(H2C_PORT, grpc.ServerCredentials.createInsecure());
await listen(
  TLS_PORT,
  grpc.ServerCredentials.createSsl(null, [{ cert_chain: cert, private_key: key }]),
);

let stopping = false;
for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, stop);

function listen(port: number, credentials: grpc.ServerCredentials): Promise<void> {
  return new Promise((resolve, reject) => {
    server.bindAsync(`[::]:${port}`, credentials, (error) => (error ? reject(error) : resolve()));
  });
}

function stop(): void {
  // A signal to the process group comes twice: the supervisor passes on its own.
  if (stopping) return;
  stopping = true;
  server.tryShutdown(() => process.exit());
  setTimeout(() => process.exit(), STOP_GRACE_MS);
}
