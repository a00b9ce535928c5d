type HostKind = "app" | "environment" | "foreign";

export interface HostNames {
  /** Takes a Host header's value. A host that is neither the app nor one label in front of ENV_HOST is foreign: 421 (G90). */
  kindOf(host: string | undefined): HostKind;
  /** The subdomain, "" when it is not a valid one, undefined when the host is not below ENV_HOST. */
  labelOf(host: string | undefined): string | undefined;
  /** The Origin of pages on this host. */
  originOf(host: string | undefined): string;
  /** Public URL of an environment, without a path. */
  environmentUrl(subdomain: string): string;
  /** Browsers use TLS, here or at a reverse proxy. */
  readonly secure: boolean;
}

interface Host {
  readonly kind: HostKind;
  readonly label: string | undefined;
  readonly origin: string;
}

const foreign: Host = { kind: "foreign", label: undefined, origin: "" };
const loopback = new Set(["localhost", "127.0.0.1", "[::1]"]);
const maxKnown = 10_000;
const labelPattern = /^[a-z0-9](?:[a-z0-9-]{0,62})$/;

/**
 * `appUrl` sets scheme and port of the environments too (G96). Loopback names belong to the app: only this machine can use
 * them, and the server's own calls to the embedded payment provider do.
 */
export function createHostNames({ appUrl, envHost }: { readonly appUrl: string; readonly envHost: string }): HostNames {
  const app = new URL(appUrl);
  const suffix = `.${envHost}`;
  const known = new Map<string, Host>();

  /** Called several times for each request, so cached; only well-formed hosts, which are short, are kept. */
  function hostOf(host: string | undefined): Host {
    const before = host === undefined ? undefined : known.get(host);
    if (before) return before;
    const read = readHost(host, app, suffix);
    if (host === undefined || read.kind === "foreign" || read.label === "") return read;
    if (known.size >= maxKnown) known.clear();
    known.set(host, read);
    return read;
  }

  return {
    kindOf: (host) => hostOf(host).kind,
    labelOf: (host) => hostOf(host).label,
    originOf: (host) => hostOf(host).origin,
    environmentUrl: (subdomain) => `${app.protocol}//${subdomain}${suffix}${app.port === "" ? "" : `:${app.port}`}`,
    secure: app.protocol === "https:",
  };
}

function readHost(host: string | undefined, app: URL, suffix: string): Host {
  const name = nameOf(host);
  if (host === undefined || name === undefined) return foreign;
  const origin = `${app.protocol}//${host.toLowerCase()}`;
  if (name === app.hostname || loopback.has(name)) return { kind: "app", label: undefined, origin };
  if (!name.endsWith(suffix)) return foreign;
  const label = name.slice(0, -suffix.length);
  return { kind: "environment", label: labelPattern.test(label) ? label : "", origin };
}

function nameOf(host: string | undefined): string | undefined {
  return host === undefined ? undefined : /^(\[[0-9a-f:.]+\]|[^:@/\s]+)(?::[0-9]{1,5})?$/.exec(host.toLowerCase())?.[1];
}
