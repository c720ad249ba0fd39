// What the process that supervises and its workers both need to know.

import type { Buffer } from "node:buffer";
import { readFileSync } from "node:fs";
import process from "node:process";
import { createSecureContext } from "node:tls";

export const H2C_PORT = Number(process.env.PORT_H2C || 8080);
export const TLS_PORT = Number(process.env.PORT_TLS || 8443);

/** Reads the certificate chain and its key, both PEM; throws unless they are a pair. */
export function loadCertificate(): { cert: Buffer; key: Buffer } {
  const certFile = process.env.TLS_CERT || "/certs/server.crt";
  const keyFile = process.env.TLS_KEY || "/certs/server.key";
  try {
    const cert = readFileSync(certFile);
    const key = readFileSync(keyFile);
    createSecureContext({ cert, key });
    return { cert, key };
  } catch (error) {
    const reason = (error as Error).message;
    throw new Error(`cannot load the certificate ${certFile} with the key ${keyFile}: ${reason}`, {
      cause: error,
    });
  }
}
