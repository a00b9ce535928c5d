import { randomBytes } from "node:crypto";
import { createServer, request } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { must, orderBody, orderOf, pay, send, signUp, until } from "../../testing/customer.ts";
import { ask, upgrade } from "../notebook.ts";
import { type Attack, end, moneyOf, newName, type Rental, rent, rowOf, type Target } from "./attack.ts";
import { clear, codeMailedTo, refundOutside, signInFrom } from "./customer-calls.ts";

/** Attacks from the network, by one or many accounts and addresses, with and without a proxy. */
export const outside: readonly Attack[] = [
  {
    name: "6 all connections of everybody, taken by one customer behind the proxy",
    async run(target) {
      const [loud, quiet] = [await rent(target), await rent(target)];
      const from = { "x-forwarded-for": "203.0.113.7" };
      const sockets: Socket[] = [];
      for (let n = 0; n < 1000; n += 50) {
        const opened = await Promise.all(
          Array.from({ length: 50 }, () => upgrade(loud.address, "/api/events/subscribe", from).catch(() => 0)),
        );
        sockets.push(...opened.filter((each) => typeof each !== "number"));
      }
      const { status } = await ask(quiet.address, "/api", { headers: { "x-forwarded-for": "198.51.100.9" } });
      for (const socket of sockets) socket.destroy();
      await Promise.all([loud, quiet].map((rental) => end(target, rental)));
      return {
        tries: 1000,
        successes: status === 200 ? [] : [`${sockets.length} held, another customer gets ${status}`],
      };
    },
  },
  {
    name: "7 what a thief keeps after the password was reset",
    async run(target) {
      const { url, port } = target.product;
      const rental = await rent(target);
      const { idToken: token, email } = rental.customer;
      const link = await must(url, "POST", `/environments/${rental.id}/share`, { token, body: { term: "7d" } });
      const open = await upgrade(rental.address, "/api/events/subscribe");
      await must(url, "POST", "/auth/reset-password", { body: { email } });
      const oobCode = await codeMailedTo(target, email);
      const { status: changed } = await send(url, "POST", "/identity/v1/accounts:resetPassword", {
        body: { oobCode, newPassword: "Another good one 2!" },
      });
      if (changed !== 200) throw new Error(`the password was not reset: ${changed}`);
      await sleep(2000);
      const { pathname, search } = new URL(link.url);
      const nobody = { port, subdomain: rental.subdomain, token: "" };
      const shared = await ask(nobody, `${pathname}${search}`);
      const statuses = {
        "the bearer token": (await send(url, "GET", `/profile/${rental.customer.userId}`, { token })).status,
        jupyter_token: (await ask(rental.address, "/api")).status,
        "the share link": shared.status,
        "an open socket": typeof open !== "number" && !open.destroyed && open.readyState === "open" ? 200 : 0,
      };
      if (typeof open !== "number") open.destroy();
      const successes = Object.entries(statuses).filter(([, status]) => status === 200 || status === 303);
      return { tries: 4, successes: successes.map(([what, status]) => `${what} still works: ${status}`) };
    },
  },
  {
    name: "10 bodies that never come",
    async run({ product: { port } }) {
      const count = 300;
      const head = `POST /auth/signup HTTP/1.1\r\nHost: localhost:${port}\r\nContent-Type: application/json\r\nContent-Length: 4000\r\n\r\n{"email": `;
      const sockets = Array.from({ length: count }, () => connect(port, "127.0.0.1"));
      for (const socket of sockets)
        socket
          .on("error", () => {})
          .resume()
          .write(head);
      const drip = setInterval(() => {
        for (const socket of sockets.slice(0, count / 2)) socket.write(" ");
      }, 1000);
      await sleep(40_000);
      clearInterval(drip);
      const open = sockets.filter((socket) => !socket.destroyed && socket.readyState === "open").length;
      for (const socket of sockets) socket.destroy();
      return { tries: count, successes: open > 0 ? [`${open} are held for 40 s`] : [] };
    },
  },
  {
    name: "11 every GPU, held and never paid for",
    async run(target) {
      const { url } = target.product;
      const [hoarder, buyer] = [await signUp(url), await signUp(url)];
      const held = await orderAll(url, hoarder, [8, 6, 4, 2, 1]);
      const bought = await send(url, "POST", "/docker/payments/create_order", {
        token: buyer.idToken,
        body: orderBody(buyer, { subdomain: newName("buyer"), gpuCount: 1 }),
      });
      const first = await holdOf(target, hoarder.userId);
      for (let n = 0; n < 3; n++) {
        await sleep(1000);
        await orderAll(url, hoarder, [8, 6, 4, 2, 1]);
      }
      const last = await holdOf(target, hoarder.userId);
      for (const each of [hoarder, buyer]) await clear(target, each);
      const successes = [
        ...(bought.status === 200 ? [] : [`${held} held, a buyer gets ${bought.status} ${bought.body.code}`]),
        ...(last > first + 500 ? [`three other names hold ${Math.round((last - first) / 1000)} s longer`] : []),
      ];
      return { tries: 5, successes };
    },
  },
  {
    name: "12 sign-ins of others, crowded out by wrong ones",
    async run({ product: { url } }) {
      const owner = await signUp(url);
      const home = "198.51.100.20";
      const right = { email: owner.email, password: owner.password, returnSecureToken: true };
      await signInFrom(url, home, right);
      const until = Date.now() + 8000;
      let tries = 0;
      const guess = async () => {
        for (; Date.now() < until; tries++) {
          const network = `2001:db8:${(tries % 400).toString(16)}::1`;
          const wrong = { email: `nobody-${tries}@example.com`, password: "wrong password 1", returnSecureToken: true };
          await signInFrom(url, network, wrong);
        }
      };
      const guessing = Promise.all(Array.from({ length: 40 }, guess));
      const refused: number[] = [];
      for (let n = 0; n < 6; n++) {
        await sleep(1000);
        const status = await signInFrom(url, home, right);
        if (status !== 200) refused.push(status);
      }
      await guessing;
      return { tries, successes: refused.length > 0 ? [`the owner was refused ${refused.length} of 6 times`] : [] };
    },
  },
  {
    name: "13 mails to strangers, from one network",
    async run({ product: { url }, db }) {
      const count = 60;
      const domain = `${newName("strangers")}.example`;
      for (let n = 0; n < count; n++) {
        const headers = { "content-type": "application/json", "x-forwarded-for": "203.0.113.60" };
        const body = JSON.stringify({ email: `someone-${n}@${domain}`, password: "a good password 1", name: "x" });
        await fetch(`${url.replace("localhost", "127.0.0.1")}/auth/signup`, { method: "POST", headers, body });
        const email = JSON.stringify({ email: `someone-${n}@${domain}` });
        await fetch(`${url.replace("localhost", "127.0.0.1")}/auth/reset-password`, {
          method: "POST",
          headers,
          body: email,
        });
      }
      const { sent } = await db
        .selectFrom("mails")
        .select((of) => of.fn.countAll<number>().as("sent"))
        .where("recipient", "like", `%@${domain}`)
        .executeTakeFirstOrThrow();
      return { tries: 2 * count, successes: sent > mostMails ? [`${sent} mails to strangers`] : [] };
    },
  },
  {
    name: "17 pages of this machine alone, through a proxy that adds nothing",
    async run(target) {
      const { product } = target;
      const victim = await signUp(product.url);
      await must(product.url, "POST", "/auth/reset-password", { body: { email: victim.email } });
      const { order } = await orderOf(product.url, victim, { subdomain: newName("shown"), gpuCount: 1 });
      const proxy = createServer((from, to) => {
        const { host: _, ...headers } = from.headers;
        const passed = request(
          { host: "127.0.0.1", port: product.port, path: from.url, method: from.method },
          (answer) => {
            to.writeHead(answer.statusCode ?? 502, answer.headers);
            answer.pipe(to);
          },
        );
        for (const [name, value] of Object.entries(headers)) if (value !== undefined) passed.setHeader(name, value);
        passed.setHeader("host", `127.0.0.1:${product.port}`);
        from.pipe(passed);
      });
      await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
      const { port } = proxy.address() as AddressInfo;
      const paths = [
        "/outbox",
        "/outbox?key=1",
        `/embedded-gateway/v1/test/outcomes/${order.id}`,
        "/embedded-gateway/outcomes",
      ];
      const successes: string[] = [];
      for (const path of paths)
        for (const accept of ["application/json", "text/html"]) {
          const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { accept } });
          const shown = await answer.text();
          if (
            shown.includes(victim.email) ||
            (answer.status === 200 && path.includes("outcomes") && shown.includes(order.id))
          )
            successes.push(`${path} answers ${answer.status}`);
        }
      proxy.close();
      await clear(target, victim);
      return { tries: 2 * paths.length, successes };
    },
  },
  {
    name: "24 a stranger's browser, signed in to the attacker's environment",
    async run(target) {
      const mallory = await rent(target);
      const { idToken: token } = mallory.customer;
      const visits = [{}, { visit: randomBytes(32).toString("base64url") }];
      const successes: string[] = [];
      for (const body of visits) {
        const { code } = await must(target.product.url, "POST", `/environments/${mallory.id}/sign-in-code`, {
          token,
          body,
        });
        const nobody = { ...mallory.address, token: "" };
        let answer = await ask(nobody, `/_berth/sign-in?code=${code}`, { headers: link });
        // The first visit of a new environment is redirected once, to clear an older one's cookies.
        if (answer.headers.location?.includes("cleared"))
          answer = await ask(nobody, answer.headers.location, { headers: link });
        const cookies = (answer.headers["set-cookie"] ?? []).filter((each) => /^(__Host-)?env=./.test(each));
        if (cookies.length > 0) successes.push(`${answer.status} with a cookie of the owner's`);
      }
      await end(target, mallory);
      return { tries: visits.length, successes };
    },
  },
  {
    name: "2 extensions that a refund swallows",
    async run(target) {
      const { product, db } = target;
      const rental = await rent(target);
      const { idToken: token, userId } = rental.customer;
      const extension = await must(product.url, "POST", `/environments/${rental.id}/extend`, {
        token,
        body: { duration: 168, amount: 33.6, currency: "USD" },
      });
      await pay(product.url, extension);
      await until("the extension to be added", async () =>
        (await moneyOf(target, userId)).some((each) => each.extends),
      );
      await refundOutside(target, rental.orderId);
      const orders = db.selectFrom("orders").select("status").where("gateway_order_id", "=", rental.orderId);
      await until("the refund to be seen", async () => (await orders.executeTakeFirst())?.status === "refunded");
      await sleep(2000);
      const { status } = await rowOf(target, rental);
      const extended = (await moneyOf(target, userId)).find((each) => each.extends);
      const swallowed =
        status === "terminated" && extended !== undefined && extended.refund_minor < extended.amount_minor - 20;
      if (status !== "terminated") await end(target, rental);
      return {
        tries: 1,
        successes: swallowed
          ? [`${extended.amount_minor - extended.refund_minor} cents kept for 168 h that never ran`]
          : [],
      };
    },
  },
];

/** Request headers of a cross-site navigation. */
const link = {
  accept: "text/html,application/xhtml+xml",
  "sec-fetch-site": "cross-site",
  "sec-fetch-mode": "navigate",
  "sec-fetch-dest": "document",
};

/** The expected rate limit, generous enough for a family behind one address. */
const mostMails = 30;

async function orderAll(
  url: string,
  customer: Rental["customer"],
  counts: readonly (8 | 6 | 4 | 2 | 1)[],
): Promise<number> {
  for (const gpuCount of counts) {
    const { status } = await send(url, "POST", "/docker/payments/create_order", {
      token: customer.idToken,
      body: orderBody(customer, { subdomain: newName("hoard"), gpuCount }),
    });
    if (status === 200) return gpuCount;
  }
  return 0;
}

/** End of the customer's newest hold, in ms since the epoch; 0 without one. */
async function holdOf({ db }: Target, userId: string): Promise<number> {
  const row = await db
    .selectFrom("orders")
    .select("hold_until")
    .where("user_id", "=", userId)
    .where("status", "=", "open")
    .orderBy("hold_until", "desc")
    .executeTakeFirst();
  return row?.hold_until.getTime() ?? 0;
}
