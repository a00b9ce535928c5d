import { createServer, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import type { Duplex } from "node:stream";
import { openUpstream, type setupGateway, upstreamServer } from "./setup-gateway.ts";

/** A running environment with a program on port 6006 that returns what it was sent. */
export async function withProgram(
  given: Awaited<ReturnType<typeof setupGateway>>,
  subdomain: string,
  user_id = "owner",
) {
  const lab = await openFakeLab(subdomain);
  const program = await upstreamServer((request, response) => {
    response.setHeader("set-cookie", ["own=1; Path=/", "env=stolen; Path=/"]);
    response.end(JSON.stringify({ program: subdomain, url: request.url, headers: request.rawHeaders }));
  });
  lab.programs.set(6006, program.port);
  const row = await given.environment({ subdomain, user_id, port: lab.port });
  lab.trust(row.runToken);
  return { lab, program, row, host: given.portHostOf(row, 6006) };
}

/** A JupyterLab of one run: answers requests with its name, and joins connections to its programs as images/ports.py does. */
async function openFakeLab(name: string) {
  /** What reached JupyterLab itself. */
  const requests: string[] = [];
  /** Ports that were asked for with the run's token. */
  const joined: number[] = [];
  /** Real ports of programs by their port inside. */
  const programs = new Map<number, number>();
  let token = "";
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    response.end(`JupyterLab of ${name}`);
  });
  server.on("upgrade", (request, socket, early) => {
    socket.on("error", () => {});
    const port = tunnelOf(request, token);
    if (port === undefined) requests.push(`upgrade ${request.url}`);
    else if (early.length > 0) requests.push(`early bytes ${early.toString("latin1")}`);
    else joined.push(port);
    join(socket, port === undefined ? undefined : programs.get(port));
  });
  const { port, sockets } = await openUpstream(server);
  const trust = (runToken: string) => {
    token = runToken;
  };
  return { port, sockets, requests, joined, programs, trust };
}

function tunnelOf({ url = "", method, headers }: IncomingMessage, token: string): number | undefined {
  const port = /^\/berth\/ports\/(\d+)$/.exec(url)?.[1];
  const isAllowed = method === "GET" && headers.upgrade === "tcp" && headers.authorization === `token ${token}`;
  return isAllowed && port !== undefined ? Number(port) : undefined;
}

function join(socket: Duplex, port: number | undefined): void {
  if (port === undefined) return void socket.end("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n");
  const program = connect(port, "127.0.0.1", () => {
    socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n");
    socket.pipe(program).pipe(socket);
  });
  program.on("error", () => socket.destroy()).on("close", () => socket.destroy());
  socket.on("close", () => program.destroy());
}
