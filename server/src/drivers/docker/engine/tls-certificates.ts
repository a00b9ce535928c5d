import { readFile } from "node:fs/promises";
import { Agent, get } from "node:https";
import { join } from "node:path";
import { createSecureContext } from "node:tls";
import { DriverError } from "../../driver.ts";

/** PEM texts: the authority of the engine's certificate, and our own certificate with its key. */
export interface Certificates {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

/** `ca.pem`, `cert.pem` and `key.pem` of a folder. Throws `unavailable`, naming the file, when one cannot be read. */
export async function readCertificates(folder: string): Promise<Certificates> {
  const read = (name: string) =>
    readFile(join(folder, name), "utf8").catch((error: Error) => {
      throw new DriverError("unavailable", `The engine's certificates cannot be read: ${error.message}`);
    });
  // One after the other, so that of several missing files the first is named.
  return { ca: await read("ca.pem"), cert: await read("cert.pem"), key: await read("key.pem") };
}

/** The engine must prove its name, also with NODE_TLS_REJECT_UNAUTHORIZED=0. Throws `unavailable` for texts that are no certificates. */
export function tlsAgent(certificates: Certificates, url: string): Agent {
  try {
    // The agent itself would only throw at its first connection.
    createSecureContext(certificates);
    return new Agent({
      ...certificates,
      rejectUnauthorized: true,
      minVersion: "TLSv1.2",
      keepAlive: true,
      timeout: 5_000,
    });
  } catch (error) {
    throw new DriverError("unavailable", `The certificates for ${url} cannot be used: ${(error as Error).message}`);
  }
}

/** Whether an engine answers a client without a certificate: then anyone who reaches it is root on that machine. */
export async function acceptsUnknownClients(engine: {
  readonly host: string;
  readonly port: number;
  readonly certificates: Certificates;
}): Promise<boolean> {
  const { host, port, certificates } = engine;
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const signal = AbortSignal.timeout(5_000);
  get({ host, port, path: "/_ping", ca: certificates.ca, agent: false, signal }, (response) => {
    response.resume();
    resolve(true);
  }).on("error", () => resolve(false));
  return await promise;
}

const engineRefused = "is refused: its certificate is";
const explanations: readonly (readonly [code: RegExp, text: string])[] = [
  [/^CERT_HAS_EXPIRED$/, `${engineRefused} out of date`],
  [/^CERT_NOT_YET_VALID$/, `${engineRefused} not valid yet`],
  [/^ERR_TLS_CERT_ALTNAME_INVALID$/, `${engineRefused} for another name or address`],
  [
    /SELF_SIGNED|UNABLE_TO_(VERIFY|GET_ISSUER)|CERT_SIGNATURE_FAILURE|CERT_UNTRUSTED|INVALID_CA/,
    `${engineRefused} not signed by ca.pem`,
  ],
  [/CERTIFICATE_REQUIRED|HANDSHAKE_FAILURE/, "refused us: it was shown no certificate"],
  [/ALERT_CERTIFICATE_EXPIRED/, "refused us: cert.pem is out of date"],
  [
    /ALERT_(BAD_CERTIFICATE|UNKNOWN_CA|CERTIFICATE_UNKNOWN|DECRYPT_ERROR|UNSUPPORTED_CERTIFICATE|ACCESS_DENIED)/,
    "refused us: it does not trust cert.pem",
  ],
  [/WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG/, "does not speak TLS: it must run with --tlsverify"],
];

/** The predicate of a sentence whose subject is the engine: why its handshake failed. Undefined for another error code. */
export function explainTlsError(code: string): string | undefined {
  return explanations.find(([pattern]) => pattern.test(code))?.[1];
}
