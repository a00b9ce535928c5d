import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

export interface Wanted {
  readonly ca: string;
  /** The server address that it is valid for; without one it is a client certificate. */
  readonly address?: string;
  /** From now on; negative: it has expired. */
  readonly days?: number;
}

/** Creates certificates in a folder, as an operator does: `NAME.pem` and `NAME-key.pem`. */
export function certificatesIn(folder: string) {
  const at = (name: string) => join(folder, name);
  const newKey = (name: string) => [
    "-newkey",
    "ec",
    "-pkeyopt",
    "ec_paramgen_curve:P-256",
    "-nodes",
    "-keyout",
    at(`${name}-key.pem`),
  ];
  return {
    at,
    async authority(name: string, days = 2): Promise<void> {
      const extension = ["-addext", "basicConstraints=critical,CA:TRUE"];
      await run("openssl", [
        "req",
        "-x509",
        ...newKey(name),
        "-out",
        at(`${name}.pem`),
        "-subj",
        `/CN=${name}`,
        "-days",
        String(days),
        ...extension,
      ]);
    },
    async issue(name: string, { ca, address, days = 2 }: Wanted): Promise<void> {
      const usage = address
        ? `extendedKeyUsage=serverAuth\nsubjectAltName=IP:${address}\n`
        : "extendedKeyUsage=clientAuth\n";
      await writeFile(at(`${name}.ext`), usage);
      await run("openssl", ["req", "-new", ...newKey(name), "-out", at(`${name}.csr`), "-subj", `/CN=${name}`]);
      const by = ["-CA", at(`${ca}.pem`), "-CAkey", at(`${ca}-key.pem`), "-CAcreateserial"];
      const files = ["-in", at(`${name}.csr`), "-out", at(`${name}.pem`), "-extfile", at(`${name}.ext`)];
      await run("openssl", ["x509", "-req", ...files, ...by, "-days", String(days)]);
    },
  };
}
