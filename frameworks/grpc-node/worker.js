// One worker process: a grpc-js server on both ports.

import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import grpc from "@grpc/grpc-js";
import protoLoader from "@grpc/proto-loader";

import { benchmarkService } from "./service.js";
import { H2C_PORT, TLS_PORT, loadCertificate } from "./settings.js";

// Calls still open this long after a stop signal are broken off.
const STOP_GRACE_MS = 1000;

const definition = protoLoader.loadSync(
  fileURLToPath(new URL("benchmark.proto", import.meta.url)),
  // Fields that were not sent have their default value instead of being undefined.
  { defaults: true },
);
const { BenchmarkService } = grpc.loadPackageDefinition(definition).benchmark;

const server = new grpc.Server();
server.addService(BenchmarkService.service, benchmarkService);

const { cert, key } = loadCertificate();
const plaintext = grpc.ServerCredentials.createInsecure();
const tls = grpc.ServerCredentials.createSsl(null, [{ cert_chain: cert, private_key: key }]);
const bind = promisify(server.bindAsync.bind(server));
await bind(`[::]:${H2C_PORT}`, plaintext);
await bind(`[::]:${TLS_PORT}`, tls);

let stopping = false;
for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, stop);

function stop() {
  // A signal to the process group comes twice: the supervisor passes on its own.
  if (stopping) return;
  stopping = true;
  server.tryShutdown(() => process.exit());
  setTimeout(() => process.exit(), STOP_GRACE_MS);
}
