import { expect, test } from "vitest";
import { newId } from "../../database/new-id.ts";
import { createShareLink } from "../../environments/api/share-links.ts";
import type { Fields } from "../testing/insert-environment.ts";
import { setupGateway } from "../testing/setup-gateway.ts";

const stopped = { status: "stopped", desired: "stopped", banked: 3600 } as const;

/** An environment that does not run, with the owner's cookie and a GPU of its own. */
async function setup(fields: Fields) {
  const given = await setupGateway();
  const { db, ask, environment, hostOf, signedIn } = given;
  const row = await environment(fields);
  await db.insertInto("gpus").values({ id: row.id, host_id: "local", kind: "gpu" }).execute();
  const lease = { id: newId(), gpu_id: row.id, holder_kind: "environment", holder_id: row.id } as const;
  await db.insertInto("gpu_leases").values(lease).execute();
  const cookie = await signedIn(row);
  const host = hostOf(row);
  const post = (headers: Record<string, string> = {}, path = "/lab/tree/a.ipynb?x=1") =>
    ask(host, "/_berth/restart", {
      method: "POST",
      headers: {
        ...{ accept: "text/html", "content-type": "application/x-www-form-urlencoded" },
        ...{ origin: `http://${host}`, cookie, ...headers },
      },
      body: new URLSearchParams({ path }).toString(),
    });
  const desired = async () =>
    (await db.selectFrom("environments").select("desired").where("id", "=", row.id).executeTakeFirstOrThrow()).desired;
  const page = () => ask(host, "/lab/tree/a.ipynb?x=1", { headers: { accept: "text/html", cookie } });
  return { ...given, row, host, cookie, post, desired, page };
}

test.each([
  ["stopped", stopped],
  ["paused", { status: "paused", desired: "paused" }],
] as const)("%s: the page's button restarts, and goes on to the page that waits", async (_name, fields) => {
  const { page, post, desired, row, appUrl } = await setup(fields);
  const shown = await page();
  expect(shown.body).toContain('<form method="post" action="/_berth/restart">');
  expect(shown.body).toContain('name="path" value="/lab/tree/a.ipynb?x=1"><button>Restart</button>');
  expect(shown.body).toContain(`href="${appUrl}/environments/${row.id}">Show environment</a>`);
  expect(shown.headers["content-security-policy"]).toContain("form-action 'self'");
  expect(shown.headers["referrer-policy"]).toBe("same-origin");
  const reply = await post();
  expect([reply.status, reply.headers.location]).toEqual([303, "/lab/tree/a.ipynb?x=1"]);
  expect(await desired()).toBe("running");
  expect((await page()).body).toMatch(/opens by itself/);
  expect((await post()).status, "a second click").toBe(303);
});

test("nothing but the owner's own form restarts: no other site, no guest, no token, no GET", async () => {
  const { ask, db, host, post, desired, row } = await setup(stopped);
  for (const headers of [
    { origin: "http://evil.example" },
    { origin: `http://other.${host}` },
    { origin: "null" },
    { cookie: "" },
    { cookie: "", authorization: `token ${row.secret}` },
  ]) {
    const { status } = await post(headers);
    expect([401, 403], JSON.stringify(headers)).toContain(status);
  }
  const { secret } = await createShareLink(db, { id: row.id, userId: row.userId }, "1h");
  const entered = await ask(host, "/_berth/share", {
    method: "POST",
    headers: { origin: `http://${host}`, "content-type": "application/x-www-form-urlencoded" },
    body: `key=${secret}`,
  });
  const guest = entered.headers["set-cookie"]?.[0]?.split(";")[0] ?? "";
  expect(guest).not.toBe("");
  expect((await post({ cookie: guest })).status).toBe(401);
  expect((await ask(host, "/_berth/restart", { headers: { accept: "text/html" } })).status).toBe(404);
  expect(await desired()).toBe("stopped");
});

test("a restart that is not possible says why, as a page; another host's path is not followed", async () => {
  const { db, post, desired, row, appUrl } = await setup(stopped);
  await db.updateTable("gpu_leases").set({ released_at: new Date() }).execute();
  await db.updateTable("gpus").set({ quarantined_at: new Date() }).execute();
  const refused = await post();
  expect([refused.status, refused.headers["content-type"]]).toEqual([409, "text/html; charset=utf-8"]);
  expect(refused.body).toMatch(/was not restarted[\s\S]*takes no new environments\.</);
  expect(refused.body).toContain(`href="${appUrl}/environments/${row.id}">Show environment`);
  expect(await desired()).toBe("stopped");
  await db.updateTable("gpus").set({ quarantined_at: null }).execute();
  expect((await post({}, "//evil.example/")).headers.location).toBe("/lab");
});
