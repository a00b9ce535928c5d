type HostKind = "app" | "environment" | "foreign";

export interface HostNames {
  /** By a Host header's value. Whatever is neither the app nor one label in front of ENV_HOST is foreign: 421 (G90). */
  kindOf(host: string | undefined): HostKind;
  /** The environment's name, "" when the host is below ENV_HOST but cannot be one; undefined when it is not below it. */
  labelOf(host: string | undefined): string | undefined;
  /** What a page of this host says as its Origin. */
  originOf(host: string | undefined): string;
  /** Public address of an environment, without a path. */
  environmentUrl(subdomain: string): string;
  /** The browser speaks TLS to us, or to what stands in front of us. */
  readonly secure: boolean;
}

interface Host {
  readonly kind: HostKind;
  readonly label: string | undefined;
  readonly origin: string;
}

const foreign: Host = { kind: "foreign", label: undefined, origin: "" };
const loopback = new Set(["localhost", "127.0.0.1", "[::1]"]);
const mostKnown = 10_000;
const label = /^[a-z0-9](?:[a-z0-9-]{0,62})$/;

/**
 * `appUrl` decides scheme and port for both: environments answer on the same port (G96). Every app answers to the loopback names, which only
 * this machine can reach it by: its own calls to the embedded payment gateway come that way.
 */
export function createHostNames({ appUrl, envHost }: { readonly appUrl: string; readonly envHost: string }): HostNames {
  const app = new URL(appUrl);
  const appNames = new Set([...loopback, app.hostname]);
  const suffix = `.${envHost}`;
  const known = new Map<string, Host>();

  function read(host: string | undefined): Host {
    const name = nameOf(host);
    if (host === undefined || name === undefined) return foreign;
    const origin = `${app.protocol}//${host.toLowerCase()}`;
    if (appNames.has(name)) return { kind: "app", label: undefined, origin };
    if (!name.endsWith(suffix)) return foreign;
    const found = name.slice(0, -suffix.length);
    return { kind: "environment", label: label.test(found) ? found : "", origin };
  }

  /** Asked several times for every request; only what is well-formed, and so short, is kept. */
  function hostOf(host: string | undefined): Host {
    const before = host === undefined ? undefined : known.get(host);
    if (before) return before;
    const found = read(host);
    if (host === undefined || found.kind === "foreign" || found.label === "") return found;
    if (known.size >= mostKnown) known.clear();
    known.set(host, found);
    return found;
  }

  return {
    kindOf: (host) => hostOf(host).kind,
    labelOf: (host) => hostOf(host).label,
    originOf: (host) => hostOf(host).origin,
    environmentUrl: (subdomain) => `${app.protocol}//${subdomain}${suffix}${app.port === "" ? "" : `:${app.port}`}`,
    secure: app.protocol === "https:",
  };
}

function nameOf(host: string | undefined): string | undefined {
  return host === undefined ? undefined : /^(\[[0-9a-f:.]+\]|[^:@/\s]+)(?::[0-9]{1,5})?$/.exec(host.toLowerCase())?.[1];
}
