import { randomBytes } from "node:crypto";
import { chmodSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { create, must, orderAndPay, type Paid, signUp, until } from "../../testing/customer.ts";
import { startProduct } from "../../testing/product.ts";
import { ask, openNotebook } from "../notebook.ts";
import { type Attack, act, end, type Rental, rent, rowOf, settledAs, type Target } from "./attack.ts";
import { configuration, kernelSettings, outbox, pipe, squat, swap } from "./cells.ts";

/** Attacks from a cell of a rented notebook, on either driver. */
export const inside: readonly Attack[] = [
  {
    name: "1 a socket of the host, in the place of the notebook's own",
    async run(target) {
      const rental = await rent(target);
      const path = join(tmpdir(), `host-only-${randomBytes(4).toString("hex")}.sock`);
      const received: string[] = [];
      const host = createServer((socket) =>
        socket.on("data", (chunk) => received.push(`received ${chunk}`)).on("error", () => {}),
      );
      await new Promise<void>((resolve) => host.listen(path, resolve));
      chmodSync(path, 0o777);
      try {
        const notebook = await openNotebook(rental.address);
        const swapped = await notebook.run(swap(path));
        // More than the open connections, so that the gateway opens new ones.
        const tries = 40;
        const asked = Array.from({ length: tries }, () => ask(rental.address, "/api").catch(() => undefined));
        await Promise.all([sleep(6000), ...asked]);
        notebook.close();
        return { tries: tries + swapped.split("\n").length, successes: received.slice(0, 1) };
      } finally {
        host.close();
        rmSync(path, { force: true });
        await end(target, rental);
      }
    },
  },
  {
    name: "3 computing before the clock starts",
    async run(target) {
      const rental = await rent(target);
      const successes: string[] = [];
      const codes = { "a configuration file": configuration, "a pipe in the place of pyvenv.cfg": pipe };
      for (const [way, code] of Object.entries(codes)) {
        const notebook = await openNotebook(rental.address);
        await notebook.run(code);
        notebook.close();
        const free = await freeSeconds(target, rental);
        if (free > mostFreeSeconds) successes.push(`${way}: ${Math.round(free)} s unbilled`);
        if ((await rowOf(target, rental)).status !== "active") break;
      }
      await end(target, rental);
      return { tries: Object.keys(codes).length, successes };
    },
  },
  {
    name: "4 unused time paid back at will",
    slow: true,
    async run(target) {
      const successes: string[] = [];
      const customer = await signUp(target.product.url);
      const tries = 2;
      for (let n = 0; n < tries; n++) {
        const rental = await rent(target, { customer, duration: 6 });
        const notebook = await openNotebook(rental.address);
        // JupyterLab is the kernel's parent: stopped, it answers nobody, not even this cell.
        const stopping = notebook.run("import os, signal; os.kill(os.getppid(), signal.SIGSTOP)").catch(() => "");
        await Promise.race([stopping, sleep(2000)]);
        notebook.close();
        await silentForTenMinutes(target, rental);
        const { rows } = await paidBack(target, rental);
        successes.push(...rows);
        await end(target, rental);
      }
      return { tries, successes };
    },
  },
  {
    name: "5 credits for launches that their owner broke",
    async run(target) {
      const { product, db } = target;
      const customer = await signUp(product.url);
      const tries = 2;
      for (let n = 0; n < tries; n++) {
        const first = await rent(target, { customer, subdomain: `broken-${customer.userId.slice(0, 6)}-${n}` });
        const notebook = await openNotebook(first.address);
        await notebook.run(configuration + pipe);
        notebook.close();
        await end(target, first);
        await settledAs(target, first, "terminated");
        const paid = await orderAndPay(product.url, customer, { subdomain: first.subdomain, gpuCount: 1 });
        const { body } = await create(product.url, customer, paid);
        // Delivered: nothing was gained.
        if (body.status === "active")
          await end(target, { ...first, id: body.environment_id ?? (await newestOf(target, first)) });
        else
          await until("the launch to be given up", async () => (await statusOf(target, paid)) === "refunded", 120_000);
      }
      const credits = await db.selectFrom("time_credits").selectAll().where("user_id", "=", customer.userId).execute();
      return { tries, successes: credits.map(() => "a credit was given") };
    },
  },
  {
    name: "8 mails of others, read from a notebook",
    async run(target) {
      const { product } = target;
      const victim = await signUp(product.url);
      await must(product.url, "POST", "/auth/reset-password", { body: { email: victim.email } });
      const rental = await rent(target);
      const notebook = await openNotebook(rental.address);
      const found = await notebook.run(outbox(product.port, product.dataDir));
      notebook.close();
      await end(target, rental);
      const lines = found.trim().split("\n");
      return { tries: lines.length, successes: lines.filter((line) => line.includes(victim.email)) };
    },
  },
  {
    name: "9 a log that fills the server's memory",
    async run(target) {
      const { product } = target;
      const rental = await rent(target);
      const notebook = await openNotebook(rental.address);
      const stop = new AbortController();
      const reading = fetch(`${product.url.replace("localhost", "127.0.0.1")}/environments/${rental.id}/logs`, {
        headers: { authorization: `Bearer ${rental.customer.idToken}` },
        signal: stop.signal,
      }).then(async (answer) => {
        for await (const _ of answer.body ?? []);
      });
      const ended = reading.catch(() => undefined);
      await sleep(1000);
      const before = residentMb(product.pid);
      await notebook.run(
        "import os\nfor n in (1, 2):\n  try:\n    with open('/proc/%d/fd/%d' % (os.getppid(), n), 'r+b') as log: log.truncate(300 << 20)\n  except OSError: pass",
      );
      let most = before;
      for (let n = 0; n < 20; n++) {
        await sleep(250);
        most = Math.max(most, residentMb(product.pid));
      }
      stop.abort();
      await ended;
      notebook.close();
      await end(target, rental);
      const grown = Math.round(most - before);
      return { tries: 2, successes: grown > 150 ? [`the server grew by ${grown} MB`] : [] };
    },
  },
  {
    name: "30 settings of the machine's kernel",
    async run(target) {
      const rental = await rent(target);
      const notebook = await openNotebook(rental.address);
      const lines = (await notebook.run(kernelSettings)).trim().split("\n");
      notebook.close();
      await end(target, rental);
      const tries = Number(lines.at(-1)?.split(" ")[1]);
      return { tries, successes: lines.filter((line) => line.startsWith("open ")) };
    },
  },
  {
    name: "16 a start that a notebook keeps from happening",
    async run(target) {
      const { dataDir, port } = target.product;
      const rental = await rent(target);
      const notebook = await openNotebook(rental.address);
      const seen = await notebook.run(squat);
      notebook.close();
      await target.product.kill();
      await sleep(1000);
      const again = () => startProduct({ dataDir, port, env: target.env });
      const refusal = await again().then(
        (product) => {
          target.product = product;
          return undefined;
        },
        (error: Error) => error.message.split("\n")[1] ?? error.message,
      );
      if (refusal === undefined) {
        await settledAs(target, rental, "active");
        await end(target, rental);
      }
      return { tries: seen.trim().split("\n").length, successes: refusal === undefined ? [] : [refusal] };
    },
  },
];

/** Free seconds at a start, including a slow machine's (G105). */
const mostFreeSeconds = 75;

/** Stops and starts; returns how many seconds it ran unbilled, up to two minutes. */
async function freeSeconds(target: Target, rental: Rental): Promise<number> {
  await act(target, rental, "stop");
  await settledAs(target, rental, "stopped");
  const before = (await rowOf(target, rental)).banked_seconds ?? 0;
  const began = Date.now();
  await act(target, rental, "restart");
  const answered = () => rowOf(target, rental).then(({ status }) => status === "active");
  await until("an answer", answered, 120_000).catch(() => undefined);
  const ran = (Date.now() - began) / 1000;
  const row = await rowOf(target, rental);
  const left = row.expires_at ? (row.expires_at.getTime() - Date.now()) / 1000 : (row.banked_seconds ?? 0);
  return ran - (before - left);
}

/** Waits until JupyterLab counts as silent, then ends its ten minutes. */
async function silentForTenMinutes(target: Target, rental: Rental): Promise<void> {
  const isNoticed = async () => (await rowOf(target, rental)).down_since !== null;
  const noticed = await until("the silence to be noticed", isNoticed, 20_000).catch(() => false);
  if (!noticed) return;
  await target.db
    .updateTable("environments")
    .set({ give_up_at: new Date(0), down_since: new Date(Date.now() - 660_000), due_at: new Date(0) })
    .where("id", "=", rental.id)
    .where("down_since", "is not", null)
    .execute();
  const isOver = async () => ["stopped", "terminated"].includes((await rowOf(target, rental)).status);
  await until("an end of the silence", isOver, 60_000).catch(() => undefined);
}

async function newestOf({ db }: Target, { subdomain }: Rental): Promise<string> {
  const rows = db.selectFrom("environments").select("id").where("subdomain", "=", subdomain);
  return (await rows.orderBy("requested_at", "desc").executeTakeFirstOrThrow()).id;
}

async function statusOf({ db }: Target, { payment_data: { razorpay_order_id } }: Paid): Promise<string | undefined> {
  const row = db.selectFrom("orders").select("status").where("gateway_order_id", "=", razorpay_order_id);
  return (await row.executeTakeFirst())?.status;
}

async function paidBack({ db }: Target, { orderId }: Rental): Promise<{ rows: readonly string[] }> {
  const row = await db
    .selectFrom("payments")
    .innerJoin("orders", "orders.id", "payments.order_id")
    .select(["payments.amount_minor", "payments.refund_minor"])
    .where("orders.gateway_order_id", "=", orderId)
    .executeTakeFirstOrThrow();
  return { rows: row.refund_minor > 0 ? [`${row.refund_minor} of ${row.amount_minor} cents went back`] : [] };
}

function residentMb(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;
}
