import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Where a proxy of a test listens and what is behind it. */
export interface ProxyPlace {
  /** Has the certificate; everything is written there. */
  readonly folder: string;
  readonly port: number;
  readonly httpPort: number;
  readonly appPorts: readonly number[];
  readonly environmentPorts: readonly number[];
}

export interface ProxyCommand {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export type ProxyName = "nginx" | "Caddy";

const programs: Readonly<Record<ProxyName, string>> = { nginx: "/usr/sbin/nginx", Caddy: "/usr/bin/caddy" };

export const hasProxy = (name: ProxyName) => existsSync(programs[name]);

/** Writes the file that is shipped in `deploy/`, with these ports, and returns the command that runs it in the foreground. */
export function proxyCommand(name: ProxyName, place: ProxyPlace): ProxyCommand {
  return name === "nginx" ? nginxCommand(place.folder, shippedNginx(place)) : caddyCommand(place);
}

/** nginx with `servers` in its http block; it writes only to `folder`. */
export function nginxCommand(folder: string, servers: string): ProxyCommand {
  const file = join(folder, "nginx.conf");
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
  const temp = temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join(" ");
  writeFileSync(
    file,
    `daemon off; pid ${folder}/nginx.pid; error_log ${folder}/nginx.log; worker_rlimit_nofile 8192;
events { worker_connections 4096; }
http { access_log off; ${temp}
${servers}
}`,
  );
  return { program: programs.nginx, args: ["-c", file], env: {} };
}

/** The servers of `deploy/nginx.conf`. A request may choose its gateway by `x-gateway: one` or `two`. */
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

function caddyCommand({ folder, port, httpPort, appPorts: [appPort] }: ProxyPlace): ProxyCommand {
  const file = join(folder, "Caddyfile");
  const options = `{\n\tadmin off\n\thttp_port ${httpPort}\n\thttps_port ${port}\n\tdefault_bind 127.0.0.1\n}\n`;
  const sites = replaced("Caddyfile", [["127.0.0.1:3000", `127.0.0.1:${appPort}`], ...certificateIn(folder)]);
  writeFileSync(file, options + sites);
  const env = { HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
  return { program: programs.Caddy, args: ["run", "--config", file, "--adapter", "caddyfile"], env };
}

const certificateIn = (folder: string): readonly (readonly [string, string])[] => [
  ["/etc/berth/tls/fullchain.pem", `${folder}/fullchain.pem`],
  ["/etc/berth/tls/privkey.pem", `${folder}/privkey.pem`],
];

/** A file of `deploy/` with some of its text replaced, once each, in order. */
function replaced(name: string, changes: readonly (readonly [from: string, to: string])[]): string {
  let text = readFileSync(fileURLToPath(new URL(`../../../deploy/${name}`, import.meta.url)), "utf8");
  for (const [from, to] of changes) {
    if (!text.includes(from)) throw new Error(`deploy/${name} has no ${from}`);
    text = text.replace(from, () => to);
  }
  return text;
}
