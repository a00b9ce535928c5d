import { BlockList, isIP, isIPv6 } from "node:net";
import { DriverError } from "../../driver.ts";

/** The address of an engine on another machine. */
export type RemoteAddress =
  | { readonly kind: "tls"; readonly url: string; readonly host: string; readonly port: number }
  | {
      readonly kind: "ssh";
      readonly url: string;
      readonly user: string;
      readonly host: string;
      readonly port: number;
      /** The engine's socket on that machine. */
      readonly socketPath: string;
    };

const hostName = /^[A-Za-z0-9]([A-Za-z0-9.-]{0,252}[A-Za-z0-9])?$/;
/** A user name that `ssh` cannot take for an option. */
const userName = /^[A-Za-z_][A-Za-z0-9_-]{0,31}$/;
const socket = /^\/[A-Za-z0-9._/-]{1,90}$/;

/**
 * Parses `ssh://user@host[:port][/path/of/docker.sock]` and `tcp+tls://host[:port]`. Throws `refused`, in one sentence,
 * for anything else, plain TCP included: anyone who reaches an engine over it is root on its machine.
 */
export function parseAddress(text: string): RemoteAddress {
  if (/^(tcp|http):\/\//.test(text))
    throw refused(`${text} is plain TCP, and anyone who reaches it is root there: use tcp+tls:// or ssh://`);
  const url = URL.parse(text);
  const host = url?.hostname.replace(/^\[|\]$/g, "") ?? "";
  const isPlain = url && url.password === "" && url.search === "" && url.hash === "";
  const isNamed = hostName.test(host) || isIPv6(host);
  if (isPlain && isNamed && url.protocol === "tcp+tls:" && url.username === "" && /^\/?$/.test(url.pathname))
    return { kind: "tls", url: text, host, port: Number(url.port || 2376) };
  const socketPath = /^\/?$/.test(url?.pathname ?? "") ? "/var/run/docker.sock" : (url?.pathname ?? "");
  if (isPlain && isNamed && url.protocol === "ssh:" && userName.test(url.username) && socket.test(socketPath))
    return { kind: "ssh", url: text, user: url.username, host, port: Number(url.port || 22), socketPath };
  throw refused(`${text} is no address of an engine: ssh://user@host[:port] or tcp+tls://host[:port]`);
}

const privateRanges = new BlockList();
for (const [net, bits] of [
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["172.16.0.0", 12],
  ["192.168.0.0", 16],
] as const)
  privateRanges.addSubnet(net, bits, "ipv4");
privateRanges.addSubnet("fc00::", 7, "ipv6");

/**
 * The address on which containers of a host publish their ports: the option `--reach`, otherwise the engine's own address.
 * Throws `refused` for a name and for a public address.
 */
export function parsePrivateAddress(option: string | undefined, { host }: RemoteAddress): string {
  const reach = option ?? host;
  const family = isIP(reach);
  if (family === 0)
    throw refused(`${reach} is a name: say with --reach which private address of the host runs are reached at`);
  if (!privateRanges.check(reach, family === 6 ? "ipv6" : "ipv4"))
    throw refused(`${reach} is no private address: say with --reach one that only your own machines can reach`);
  return reach;
}

/** The folder of homes on the host. Throws `refused` unless it is an absolute path of at least two parts. */
export function parseHomeRoot(text: string): string {
  if (!/^(\/[A-Za-z0-9_-][A-Za-z0-9._-]*){2,}$/.test(text) || text.length > 200)
    throw refused(`${text} is no folder for homes: an absolute path such as /var/lib/berth/homes`);
  return text;
}

function refused(message: string): DriverError {
  return new DriverError("refused", message);
}
