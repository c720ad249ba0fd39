// benchmark.BenchmarkService on grpc-js and Deno: h2c on port 8080, TLS on port 8443.
//
// One worker process per CPU, made by node:cluster.

import cluster from "node:cluster";
import { once } from "node:events";
import { createServer } from "node:net";
import { availableParallelism } from "node:os";
import process from "node:process";
import { fileURLToPath } from "node:url";

import { H2C_PORT, loadCertificate, TLS_PORT } from "./settings.ts";

const STOP_SIGNALS = ["SIGTERM", "SIGINT"];

let stopping = false;

for (const signal of STOP_SIGNALS) process.on(signal, stop);
cluster.on("exit", (_worker, code: number | null, signal: string | null) => {
  const asked = code === 0 || (signal !== null && STOP_SIGNALS.includes(signal));
  if (!asked) fail(`a worker ended unasked (${signal ?? `exit code ${code}`})`);
  // One that was asked to end had its signal from elsewhere, or just before this process had it.
  stop();
});

try {
  loadCertificate();
  await checkPortIsFree(H2C_PORT);
  await checkPortIsFree(TLS_PORT);
} catch (error) {
  fail((error as Error).message);
}
cluster.setupPrimary({ exec: fileURLToPath(new URL("worker.ts", import.meta.url)) });
for (let i = 0; i < availableParallelism() && !stopping; i++) {
  // That a message does not reach a worker is no news: its exit is.
  cluster.fork().on("error", () => {});
}

function stop(): void {
  stopping = true;
  for (const worker of Object.values(cluster.workers ?? {})) terminate(worker!.process.pid!);
}

/** Unlike the worker's own kill(), this leaves open its channel, which it needs to close its ports. */
function terminate(pid: number): void {
  try {
    process.kill(pid, "SIGTERM");
  } catch {
    // It has ended, and that is noticed in a moment.
  }
}

/** Said here once; the workers, to whom a port is refused as well, would each say it. */
async function checkPortIsFree(port: number): Promise<void> {
  const probe = createServer().listen(port);
  try {
    await once(probe, "listening");
  } catch (error) {
    throw new Error(`cannot listen on port ${port}: ${(error as Error).message}`, { cause: error });
  }
  probe.close();
  await once(probe, "close");
}

function fail(reason: string): never {
  console.error(`grpc-node-deno: ${reason}`);
  process.exit(1);
}
