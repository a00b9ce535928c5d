import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { runProxy } from "./run-proxy.ts";
import { hasNginx, startNginx } from "./start-nginx.ts";

/** Where a proxy of a test listens and what is behind it. */
export interface ProxyPlace {
  /** Has the certificate; everything is written there. */
  readonly folder: string;
  readonly port: number;
  readonly httpPort: number;
  readonly appPorts: readonly number[];
  readonly environmentPorts: readonly number[];
}

interface ShippedProxy {
  readonly name: string;
  readonly isHere: boolean;
  readonly start: (place: ProxyPlace) => Promise<void>;
}

const caddy = "/usr/bin/caddy";

/** The proxies that `deploy/` has a file for, each with that file. */
export const shippedProxies: readonly ShippedProxy[] = [
  {
    name: "nginx",
    isHere: hasNginx,
    start: (place) => startNginx({ ...place, servers: shippedNginx(place) }),
  },
  { name: "Caddy", isHere: existsSync(caddy), start: startCaddy },
];

/** The servers of `deploy/nginx.conf` with these ports. A request may choose its gateway by `x-gateway: one` or `two`. */
export function shippedNginx({ folder, port, httpPort, appPorts, environmentPorts }: ProxyPlace): string {
  const serversOf = (ports: readonly number[]) => ports.map((each) => `server 127.0.0.1:${each};`).join(" ");
  const [one, two = one] = environmentPorts;
  const choice = `map $http_x_gateway $gateway { default berth_environments; one 127.0.0.1:${one}; two 127.0.0.1:${two}; }`;
  const servers = replaced("nginx.conf", [
    ["server 127.0.0.1:3000;", serversOf(appPorts)],
    ["server 127.0.0.1:3000;", serversOf(environmentPorts)],
    ["default berth_environments;", "default $gateway;"],
    ["listen 80;", `listen 127.0.0.1:${httpPort};`],
    ["listen [::]:80;", ""],
    ["listen 443 ssl http2;", `listen 127.0.0.1:${port} ssl http2;`],
    ["listen [::]:443 ssl http2;", ""],
    ...certificateIn(folder),
  ]);
  return `${choice}\n${servers}`;
}

async function startCaddy({ folder, port, httpPort, appPorts: [appPort] }: ProxyPlace): Promise<void> {
  const file = join(folder, "Caddyfile");
  const options = `{\n\tadmin off\n\thttp_port ${httpPort}\n\thttps_port ${port}\n\tdefault_bind 127.0.0.1\n}\n`;
  const sites = replaced("Caddyfile", [
    ["127.0.0.1:3000", `127.0.0.1:${appPort}`],
    [
      "/etc/berth/tls/fullchain.pem /etc/berth/tls/privkey.pem",
      certificateIn(folder)
        .map(([, path]) => path)
        .join(" "),
    ],
  ]);
  writeFileSync(file, options + sites);
  const env = { HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
  await runProxy({ program: caddy, args: ["run", "--config", file, "--adapter", "caddyfile"], port, env });
}

const certificateIn = (folder: string): readonly (readonly [string, string])[] => [
  ["/etc/berth/tls/fullchain.pem", `${folder}/fullchain.pem`],
  ["/etc/berth/tls/privkey.pem", `${folder}/privkey.pem`],
];

/** A file of `deploy/` with some of its text replaced, once each, in order. */
function replaced(name: string, changes: readonly (readonly [from: string, to: string])[]): string {
  let text = readFileSync(fileURLToPath(new URL(`../../../deploy/${name}`, import.meta.url)), "utf8");
  for (const [from, to] of changes) {
    expect(text, name).toContain(from);
    text = text.replace(from, () => to);
  }
  return text;
}
