import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { isIP } from "node:net";
import { join } from "node:path";
import { connect } from "node:tls";
import type { Db } from "../../database/database.ts";
import { parseAddress } from "../../drivers/docker/engine/remote-address.ts";
import { remoteHosts } from "../../environments/hosts/start-remote-hosts.ts";
import type { ProcessSettings } from "../process-registry.ts";

interface CertificatesDeps {
  readonly db: Db;
  readonly settings: Pick<ProcessSettings, "appUrl" | "envHost" | "dataDir">;
  /** Whether the files of the installation are on this machine. */
  readonly isHere: boolean;
}

interface Certificate {
  /** For metrics: `app`, `environments`, or the host with the file or `engine`. */
  readonly name: string;
  /** For people. */
  readonly what: string;
  readonly read: () => Promise<Date>;
}

interface ReadCertificate extends Pick<Certificate, "name" | "what"> {
  /** Undefined when it could not be read, for the reason in `trouble`. */
  readonly end: Date | undefined;
  readonly trouble: string;
}

/** Reads the certificates that the app, the environments and engines serve, and the client's files for engines. */
export async function readCertificates(deps: CertificatesDeps): Promise<readonly ReadCertificate[]> {
  return await Promise.all(
    [...served(deps.settings), ...(await ofHosts(deps))].map(async ({ name, what, read }) => {
      try {
        return { name, what, end: await read(), trouble: "" };
      } catch (error) {
        return { name, what, end: undefined, trouble: (error as Error).message };
      }
    }),
  );
}

/** The app's certificate, and the one of the environments' subdomains. */
function served({ appUrl, envHost }: CertificatesDeps["settings"]): readonly Certificate[] {
  const { protocol, hostname, port } = new URL(appUrl);
  if (protocol !== "https:") return [];
  const hosts = {
    app: hostname.replace(/^\[|\]$/g, ""),
    ...(envHost !== "localhost" && { environments: `doctor.${envHost}` }),
  };
  return Object.entries(hosts).map(([name, host]) => ({
    name,
    what: `The certificate of ${host}`,
    read: () => expiryOf({ host, port: Number(port || 443), ...(isIP(host) === 0 && { servername: host }) }),
  }));
}

async function ofHosts({ db, settings: { dataDir }, isHere }: CertificatesDeps): Promise<readonly Certificate[]> {
  const hosts = isHere ? await remoteHosts(db) : [];
  return hosts.flatMap(({ id, address }) => {
    const { kind, host, port } = parseAddress(address);
    if (kind === "ssh") return [];
    const file = (name: string) => readFile(join(dataDir, "hosts", id, name), "utf8");
    const keys = async () => ({ ca: await file("ca.pem"), cert: await file("cert.pem"), key: await file("key.pem") });
    return [
      ...["ca.pem", "cert.pem"].map((name) => ({
        name: `${id}/${name}`,
        what: `${name} for ${id}`,
        read: async () => new Date(new X509Certificate(await file(name)).validTo),
      })),
      {
        name: `${id}/engine`,
        what: `The certificate of the engine of ${id}`,
        read: async () => await expiryOf({ host, port, ...(await keys()) }),
      },
    ];
  });
}

const timeoutMs = 8_000;

/** Accepts untrusted certificates: only the expiry counts here. */
async function expiryOf(options: { readonly host: string; readonly port: number; readonly servername?: string }) {
  const socket = connect({ ...options, rejectUnauthorized: false });
  try {
    await once(socket, "secureConnect", { signal: AbortSignal.timeout(timeoutMs) });
    return new Date(socket.getPeerCertificate().valid_to);
  } finally {
    socket.destroy();
  }
}
