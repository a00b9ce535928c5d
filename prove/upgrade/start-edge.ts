import { spawn } from "node:child_process";
import { freePort } from "../../server/src/testing/free-port.ts";
import { nginxCommand, shippedNginx } from "../../server/src/testing/proxy-command.ts";
import { environment } from "../../testing/environment.ts";
import { removeFolder, temporaryFolder } from "../../testing/product.ts";

interface Edge {
  /** Of the app, as browsers see it. */
  readonly url: string;
  /** The port that it passes requests on to at first. */
  readonly oldPort: number;
  readonly newPort: number;
  /** New requests go to the new port from now on, by a reload. */
  leadToNew(): void;
  stop(): void;
}

/** nginx with the shipped file, without TLS. */
export async function startEdge(): Promise<Edge> {
  const folder = temporaryFolder();
  const [port, httpPort] = [await freePort(), await freePort()];
  const [oldPort, newPort] = [await freePort(), await freePort()];
  const commandFor = (to: number) => {
    const shipped = shippedNginx({ folder, port, httpPort, appPorts: [to], environmentPorts: [to] });
    return nginxCommand(folder, shipped.replace(`:${port} ssl http2;`, `:${port};`).replaceAll(/^ *ssl_.*$/gm, ""));
  };
  const { program, args, env } = commandFor(oldPort);
  const child = spawn(program, args, { env: { ...environment.shell, ...env }, stdio: "ignore" });
  return {
    url: `http://localhost:${port}`,
    oldPort,
    newPort,
    leadToNew() {
      commandFor(newPort);
      child.kill("SIGHUP");
    },
    stop() {
      child.kill("SIGTERM");
      removeFolder(folder);
    },
  };
}
