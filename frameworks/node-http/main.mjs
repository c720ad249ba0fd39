// Serves items (requests/crud.openapi.yaml): HTTP/1.1 and h2c on one port, HTTP/1.1 and HTTP/2 over
// TLS on another.

import { once } from "node:events";
import { readFileSync } from "node:fs";
import http from "node:http";
import http2 from "node:http2";
import net from "node:net";
import { createSecureContext } from "node:tls";

import { handle } from "./items.mjs";

// Requests still open this long after a stop signal are broken off.
const STOP_GRACE_MS = 1000;

// What a client of HTTP/2 sends first (RFC 9113, 3.4). No method of HTTP/1.1 begins so.
const PREFACE = Buffer.from("PRI ");

const connections = new Set();

try {
  const encrypted = http2.createSecureServer({ ...loadCertificate(), allowHTTP1: true }, handle);
  await listen(plaintext(), process.env.PORT_H2C || 8080);
  await listen(encrypted, process.env.PORT_TLS || 8443);
} catch (error) {
  console.error(`node-http: ${error.message}`);
  process.exit(1);
}

/** Returns a server of both versions: the first bytes of a connection tell which it is. */
function plaintext() {
  const one = http.createServer(handle);
  const two = http2.createServer(handle);
  return net.createServer({ noDelay: true }, (socket) => {
    socket.on("error", () => {}); // A client that is gone needs no answer.
    socket.once("data", (first) => {
      socket.pause();
      socket.unshift(first);
      const isHttp2 = PREFACE.equals(first.subarray(0, PREFACE.length));
      (isHttp2 ? two : one).emit("connection", socket);
      if (!isHttp2) socket.resume();
    });
  });
}

async function listen(server, port) {
  for (const event of ["connection", "secureConnection"]) server.on(event, keep);
  server.listen(port);
  try {
    await once(server, "listening");
  } catch (error) {
    throw new Error(`cannot listen on port ${port}: ${error.message}`, { cause: error });
  }
  for (const signal of ["SIGTERM", "SIGINT"]) process.once(signal, () => stop(server));
}

function keep(socket) {
  connections.add(socket);
  socket.once("close", () => connections.delete(socket));
}

/** Takes no more connections; idle ones and requests under way have a moment to end. */
function stop(server) {
  server.close();
  setTimeout(() => {
    for (const socket of connections) socket.destroy();
  }, STOP_GRACE_MS).unref();
}

/** Reads the certificate chain and its key, both PEM; throws unless they are a pair. */
function loadCertificate() {
  const certFile = process.env.TLS_CERT || "/certs/server.crt";
  const keyFile = process.env.TLS_KEY || "/certs/server.key";
  try {
    const cert = readFileSync(certFile);
    const key = readFileSync(keyFile);
    createSecureContext({ cert, key });
    return { cert, key };
  } catch (error) {
    throw new Error(
      `cannot load the certificate ${certFile} with the key ${keyFile}: ${error.message}`,
      { cause: error },
    );
  }
}
