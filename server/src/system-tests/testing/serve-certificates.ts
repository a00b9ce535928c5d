import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { certificatesIn } from "../../drivers/testing/certificates-in.ts";
import type { Defer } from "./defer.ts";

/** Serves one certificate after the other at one address, as the proxy in front of the app does; the first one at first. */
export async function serveCertificates(daysOf: Readonly<Record<string, number>>, defer: Defer) {
  const folder = mkdtempSync(join(tmpdir(), "berth-certificates-"));
  defer(() => rmSync(folder, { recursive: true, force: true }));
  const certificates = certificatesIn(folder);
  await certificates.authority("ca");
  for (const [name, days] of Object.entries(daysOf))
    await certificates.issue(name, { ca: "ca", address: "127.0.0.1", days });
  const text = (name: string) => readFileSync(certificates.at(`${name}.pem`), "utf8");
  const named = (name: string) => ({ cert: text(name), key: text(`${name}-key`) });
  const [first = ""] = Object.keys(daysOf);
  const server = createServer(named(first)).listen(0, "127.0.0.1");
  await once(server, "listening");
  defer(() => void server.close());
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    serve: (name: string) => server.setSecureContext(named(name)),
  };
}
