import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { certificatesIn } from "../../testing/certificates-in.ts";
import { checkEngine } from "../check-engine.ts";
import { openEngine } from "./engine.ts";
import { readCertificates } from "./tls-certificates.ts";

/** The answers of an engine that the check reads, behind real TLS; `mutual` wants a certificate of its clients. */
async function setup({ mutual = true } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "berth-tls-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const certificates = certificatesIn(folder);
  const text = (name: string) => readFile(certificates.at(`${name}.pem`), "utf8");
  for (const name of ["ca", "other-ca"]) await certificates.authority(name);
  await certificates.issue("client", { ca: "ca" });
  return {
    certificates,
    folder,
    /** Its address, when it shows this certificate and is shown these. */
    async engine(name: string, { ca = "ca", cert = "client" } = {}) {
      const server = createServer(
        {
          ca: await text("ca"),
          cert: await text(name),
          key: await text(`${name}-key`),
          requestCert: mutual,
          rejectUnauthorized: mutual,
        },
        (_, reply) =>
          reply.end(JSON.stringify({ ApiVersion: "1.41", OSType: "linux", LiveRestoreEnabled: true, NCPU: 2 })),
      ).listen(0, "127.0.0.1");
      await once(server, "listening");
      onTestFinished(() => {
        server.closeAllConnections();
        server.close();
      });
      const { port } = server.address() as AddressInfo;
      const shown = { ca: await text(ca), cert: await text(cert), key: await text(`${cert}-key`) };
      return { url: `tcp+tls://127.0.0.1:${port}`, host: "127.0.0.1", port, certificates: shown };
    },
  };
}

const relaxed = { needsLiveRestore: true };

test("an engine is used with a valid certificate; one of another authority, for another name or expired is refused in one sentence", async () => {
  const { certificates, engine } = await setup();
  await certificates.issue("server", { ca: "ca", address: "127.0.0.1" });
  await certificates.issue("unknown", { ca: "other-ca", address: "127.0.0.1" });
  await certificates.issue("elsewhere", { ca: "ca", address: "10.0.0.5" });
  await certificates.issue("old", { ca: "ca", address: "127.0.0.1", days: -1 });
  expect(await checkEngine(await engine("server"), relaxed)).toEqual([]);
  const refusals = { unknown: "not signed by ca.pem", elsewhere: "for another name or address", old: "out of date" };
  for (const [name, words] of Object.entries(refusals))
    await expect(checkEngine(await engine(name), relaxed)).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringMatching(
        new RegExp(`^The Docker Engine at tcp\\+tls://127.0.0.1:\\d+ is refused: its certificate is ${words}$`),
      ),
    });
  await expect(checkEngine(await engine("server", { ca: "other-ca" }), relaxed)).rejects.toThrow(
    "not signed by ca.pem",
  );
});

test("NODE_TLS_REJECT_UNAUTHORIZED=0 changes nothing", async () => {
  const { certificates, engine } = await setup();
  await certificates.issue("unknown", { ca: "other-ca", address: "127.0.0.1" });
  process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = "0";
  onTestFinished(() => void delete process.env["NODE_TLS_REJECT_UNAUTHORIZED"]);
  await expect(checkEngine(await engine("unknown"), relaxed)).rejects.toThrow("not signed by ca.pem");
});

test("an engine that accepts clients without a certificate is refused", async () => {
  const { certificates, engine } = await setup({ mutual: false });
  await certificates.issue("server", { ca: "ca", address: "127.0.0.1" });
  await expect(checkEngine(await engine("server"), relaxed)).rejects.toMatchObject({
    code: "refused",
    message: expect.stringContaining("accepts clients without a certificate: it must run with --tlsverify"),
  });
});

test("a missing or invalid certificate is named", async () => {
  const { folder } = await setup();
  await expect(readCertificates(folder)).rejects.toThrow(/certificates cannot be read: ENOENT.*cert\.pem/);
  const certificates = { ca: "no PEM", cert: "x", key: "y" };
  expect(() => openEngine({ url: "tcp+tls://gpu-1", host: "gpu-1", port: 2376, certificates })).toThrow(
    "The certificates for tcp+tls://gpu-1 cannot be used",
  );
});
