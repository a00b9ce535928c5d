import { sql } from "kysely";
import { startReplica } from "../../testing/start-replica.ts";
import type { Figure } from "../figure.ts";
import { drive } from "../processes.ts";
import { type Bench, counted, treeCpuMs } from "./scale-processes.ts";

/**
 * Requests through one, two and three gateways. On a machine with few cores the clients take what the gateways need, so the
 * figure is the CPU time of a gateway for one request: so many fit in a second of a core of its own.
 */
export async function requests(bench: Bench): Promise<Figure[]> {
  const { rows } = await sql<{ subdomain: string; secret: string }>`
    select subdomain, secret from environments where status = 'active' and generation = 1 order by random() limit 50`.execute(
    bench.database.db,
  );
  const figures: Figure[] = [];
  for (let gateways = 1; gateways <= 3; gateways++) {
    while (bench.gateways.length < gateways) bench.gateways.push(await startReplica("gateway", bench));
    const cost: number[] = [];
    for (let round = 0; round < 4; round++) {
      const before = bench.gateways.map(({ pid }) => treeCpuMs(pid));
      const reached = await Promise.all(
        bench.gateways.map(({ port }) =>
          drive({
            kind: "requests",
            port,
            clients: rows.map((row) => headersOf(row, port)),
            path: "/api",
            sockets: 16,
            forMs: 4000,
          }),
        ),
      );
      const spentMs = bench.gateways.reduce((sum, { pid }, at) => sum + treeCpuMs(pid) - (before[at] ?? 0), 0);
      // The first warms up the compiler.
      if (round > 0) cost.push((spentMs * 1000) / reached.reduce((sum, { count }) => sum + count, 0));
    }
    figures.push({
      ...{
        name: `scale, ${bench.count} environments, ${counted(gateways, "gateway")}: CPU of a request`,
        unit: "us",
        samples: cost,
      },
    });
  }
  return figures;
}

function headersOf({ subdomain, secret }: { subdomain: string; secret: string }, port: number): string {
  return `Host: ${subdomain}.localhost:${port}\r\nAuthorization: token ${secret}\r\nAccept: */*\r\n`;
}
