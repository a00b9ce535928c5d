import { expect, test } from "vitest";
import { freePort } from "../testing/free-port.ts";
import { shippedNginx } from "../testing/proxy-command.ts";
import { dataFolder, emptyDatabase, start } from "../testing/server-process.ts";
import { hasNginx, startNginx } from "../testing/start-nginx.ts";
import { type Ask, app, ask, environments, makeCertificate, rent, upgrade } from "./testing/behind-proxy.ts";

/** nginx with TLS in front of one process with API and worker, and of two gateways; `x-gateway` chooses one of them. */
async function installation() {
  const { url: DATABASE_URL } = await emptyDatabase();
  const [port, apiPort, ...gatewayPorts] = [await freePort(), await freePort(), await freePort(), await freePort()];
  const common = {
    ...{ DATABASE_URL, PAYMENTS: "embedded", IDENTITY_SECRET: "one secret for all three of them" },
    ...{ APP_URL: `https://${app}:${port}`, ENV_HOST: environments, TRUST_PROXY: "127.0.0.1" },
    ...{ FAKE_DRIVER: "gpus=8", NEWCOMER_SHARE: "1" },
  };
  const open = (ROLES: string, PORT: number) => start({ ...common, DATA_DIR: dataFolder(), ROLES, PORT: String(PORT) });
  await open("api,worker", apiPort).url();
  for (const each of gatewayPorts) await open("gateway", each).url();
  const folder = dataFolder();
  makeCertificate(folder);
  const place = { folder, port, httpPort: await freePort(), appPorts: [apiPort], environmentPorts: gatewayPorts };
  await startNginx({ folder, port, servers: shippedNginx(place) });
  return {
    ask: (path: string, wanted: Ask) => ask(port, path, wanted),
    socket: (host: string, token: string, from: string) => upgrade(port, host, token, from),
  };
}

const reason = hasNginx ? "" : " (skipped: there is no nginx here)";

test.skipIf(!hasNginx)(
  `behind nginx with TLS and two gateways, 1,000 sockets of one user do not slow another, and a hundred sign-ins at one gateway are known at the other at once${reason}`,
  async () => {
    const world = await installation();
    await signInByTurns(world);
    const [loud, quiet] = [await rent(world, "loud"), await rent(world, "quiet")];
    const opened: (number | undefined)[] = [];
    for (let n = 0; n < 1000; n += 50) {
      const batch = Array.from({ length: 50 }, () => world.socket(loud.host, loud.secret, "127.0.0.2"));
      opened.push(...(await Promise.all(batch)));
    }
    expect(opened).toContain(101);
    for (const gateway of ["one", "two"]) {
      const headers = { authorization: quiet.secret, "x-gateway": gateway };
      expect(await world.ask("/lab", { host: quiet.host, from: "127.0.0.3", headers })).toMatchObject({ status: 200 });
    }
    expect(await world.socket(quiet.host, quiet.secret, "127.0.0.3")).toBe(101);
  },
  180_000,
);

async function signInByTurns(world: Awaited<ReturnType<typeof installation>>) {
  const { host, id, idToken } = await rent(world, "twice");
  const met: (number | undefined)[] = [];
  for (let n = 0; n < 100; n++) {
    const [here, there] = n % 2 === 0 ? ["one", "two"] : ["two", "one"];
    const asked = { host: app, method: "POST", headers: { authorization: `Bearer ${idToken}` }, body: {} };
    const { code } = (await world.ask(`/environments/${id}/sign-in-code`, asked)).body;
    let path = `/_berth/sign-in?code=${code}&path=/lab`;
    let entered = await world.ask(path, { host, headers: { "x-gateway": String(here) } });
    // The first visit goes round once, to clear what an older environment of the name left.
    if (entered.headers["clear-site-data"]) {
      path = String(entered.headers.location);
      entered = await world.ask(path, { host, headers: { "x-gateway": String(here) } });
    }
    const cookie = entered.headers["set-cookie"]?.find((each) => each.startsWith("__Host-env="))?.split(";")[0] ?? "";
    expect(cookie).not.toBe("");
    met.push((await world.ask("/lab", { host, headers: { cookie, "x-gateway": String(there) } })).status);
  }
  expect(met.filter((status) => status !== 200)).toEqual([]);
}
