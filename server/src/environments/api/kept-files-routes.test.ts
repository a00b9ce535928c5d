import { get } from "node:http";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { filesIn } from "../../drivers/testing/drive-run.ts";
import { testApp } from "../../testing/test-app.ts";

async function setup() {
  const product = await testApp();
  product.deliver();
  const [ada, bob] = [await product.signUp("Ada"), await product.signUp("Bob")];
  const { db, must, call, driver } = product;
  const rented = await product.rent(ada, { subdomain: "adas-lab", gpu_count: 1 });
  const id = rented.environment_id;
  const row = () => db.selectFrom("environments").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
  const { home } = await row();
  driver.machine.homes.set(home, new Map([["notes.txt", "words"]]));
  const becomes = (status: string) => expect.poll(async () => (await row()).status, { timeout: 15_000 }).toBe(status);
  return {
    ...product,
    ada,
    bob,
    id,
    home,
    list: async (user = ada) => (await must("GET", "/files", user.token)).files,
    link: async () => (await must("POST", `/environments/${id}/archive`, ada.token, {})).url as string,
    download: (path: string) => product.app.inject({ method: "GET", url: path }),
    deleteNow: (confirm = "adas-lab", user = ada) =>
      call("POST", `/environments/${id}/delete_files`, user.token, { confirm }),
    async end() {
      await must("POST", `/environments/${id}/terminate`, ada.token, { confirm: "adas-lab" });
      await becomes("terminated");
    },
    async stop() {
      await must("POST", `/docker/stop_container/${id}/${ada.id}`, ada.token, {});
      await becomes("stopped");
    },
  };
}

test("kept files: none while it runs, no end while it is stopped, an end after it ended, none once deleted", async () => {
  const { list, stop, end, deleteNow, id, bob, driver, home, db } = await setup();
  expect(await list()).toEqual([]);
  await stop();
  await expect.poll(async () => (await list())[0]?.size_mb, { timeout: 15_000 }).toBe(5e-6);
  const [stopped] = await list();
  expect(stopped).toMatchObject({ environment_id: id, subdomain: "adas-lab", files_until: null });
  expect(stopped.banked_seconds).toBeGreaterThan(3500);
  expect((await deleteNow()).json()).toMatchObject({
    code: "action_not_allowed",
    message: "adas-lab still uses these files. Terminate it first",
  });
  await end();
  await expect.poll(async () => (await list())[0]?.size_mb, { timeout: 15_000 }).toBe(5e-6);
  const [ended] = await list();
  expect(ended.banked_seconds).toBe(0);
  expect(Math.round((Date.parse(ended.files_until) - Date.now()) / 86_400_000)).toBe(30);
  expect(await list(bob)).toEqual([]);
  expect((await deleteNow("adas")).statusCode).toBe(400);
  expect((await deleteNow("adas-lab", bob)).statusCode).toBe(404);
  expect(driver.machine.homes.has(home)).toBe(true);
  for (const _ of [1, 2]) expect((await deleteNow()).statusCode).toBe(200);
  expect(await list()).toEqual([]);
  await expect.poll(() => driver.machine.homes.has(home), { timeout: 15_000 }).toBe(false);
  await expect.poll(() => db.selectFrom("subdomain_claims").selectAll().execute(), { timeout: 15_000 }).toEqual([]);
  expect((await deleteNow()).statusCode, "again, later").toBe(200);
});

test("files that are lost are promised to nobody once their environment has ended", async () => {
  const { list, stop, end, id, ada, db, must, home } = await setup();
  await stop();
  await sql`update homes set missing_since = now() where home = ${home}`.execute(db);
  expect(await list()).toMatchObject([{ environment_id: id, files_until: null }]);
  await end();
  expect(await list()).toEqual([]);
  expect((await must("GET", `/environments/${id}`, ada.token)).environment.files_until).toBeNull();
});

test("G301 a name stays its owner's for a year after its files are gone; others get it only when the owner gives it free", async () => {
  const { end, deleteNow, db, must, call, ada, bob, order, rent } = await setup();
  const names = async ({ token }: typeof ada) => (await must("GET", "/files", token)).names;
  const check = ({ token }: typeof ada) => must("GET", "/subdomains/adas-lab", token);
  const giveFree = async ({ token }: typeof ada) => (await call("POST", "/names/adas-lab/give_free", token, {})).json();
  await end();
  expect(await names(ada), "its files are kept").toEqual([]);
  expect(await giveFree(ada)).toMatchObject({ message: "Files of adas-lab are kept. Delete them first" });
  await deleteNow();
  await expect.poll(() => db.selectFrom("subdomain_claims").selectAll().execute(), { timeout: 15_000 }).toEqual([]);
  const taken = { available: false, message: "This name is in use", suggestion: "adas-lab-2" };
  expect(await check(bob)).toMatchObject(taken);
  await expect(order(bob, { subdomain: "adas-lab" })).rejects.toThrow('"code":"subdomain_taken"');
  expect(await check(ada)).toMatchObject({
    available: true,
    message: "This name is yours from an earlier environment",
  });
  const [name] = await names(ada);
  expect([name.name, Math.round((Date.parse(name.reserved_until) - Date.now()) / 86_400_000)]).toEqual([
    "adas-lab",
    365,
  ]);
  expect(await names(bob)).toEqual([]);
  expect(await giveFree(bob)).toMatchObject({ code: "not_found" });
  await rent(ada, { subdomain: "adas-lab" });
  expect(await giveFree(ada)).toMatchObject({ message: "adas-lab is in use, or its files are being deleted" });
  const { id } = await db
    .selectFrom("environments")
    .select("id")
    .where("status", "<>", "terminated")
    .executeTakeFirstOrThrow();
  await must("POST", `/environments/${id}/terminate`, ada.token, { confirm: "adas-lab" });
  await expect.poll(async () => (await must("GET", "/files", ada.token)).files.length, { timeout: 15_000 }).toBe(1);
  await must("POST", `/environments/${id}/delete_files`, ada.token, { confirm: "adas-lab" });
  await expect.poll(() => names(ada), { timeout: 15_000 }).toHaveLength(1);
  expect(await giveFree(ada)).toEqual({ status: "success" });
  expect(await giveFree(ada)).toMatchObject({ code: "not_found" });
  expect(await check(bob)).toMatchObject({ available: true, message: "" });
  await rent(bob, { subdomain: "adas-lab" });
  expect(await check(ada)).toMatchObject(taken);
});

test("during a deletion nobody launches into the files, and a new environment of the name finds none", async () => {
  const { end, deleteNow, must, ada, driver, home, rent, db } = await setup();
  await end();
  const release = driver.hang("deleteHome");
  await deleteNow();
  expect((await must("GET", "/subdomains/adas-lab", ada.token)).available).toBe(false);
  release();
  await expect.poll(() => db.selectFrom("homes").selectAll().execute(), { timeout: 15_000 }).toEqual([]);
  await rent(ada, { subdomain: "adas-lab", gpu_count: 1 });
  expect(driver.machine.homes.get(home)?.size).toBe(0);
});

test("a link downloads once within its minute, running, stopped or ended; then it is not found", async () => {
  const { link, download, end, db, call, bob, id, list, deleteNow, ada } = await setup();
  for (const prepare of [async () => {}, end]) {
    await prepare();
    const path = await link();
    const { rawPayload, headers } = await download(path);
    expect(headers).toMatchObject({
      "content-type": "application/gzip",
      "content-disposition": 'attachment; filename="adas-lab.tar.gz"',
      "cache-control": "no-store",
    });
    expect(await filesIn(chunksOf(rawPayload))).toEqual(new Map([["notes.txt", "words"]]));
    const absent = await download(`/archives/${"A".repeat(43)}`);
    expect(absent.statusCode).toBe(404);
    expect((await download(path)).body).toBe(absent.body);
  }
  const late = await link();
  await sql`update archive_codes set expires_at = now()`.execute(db);
  expect((await download(late)).statusCode).toBe(404);
  const both = await link();
  const answers = await Promise.all([download(both), download(both), download(both)]);
  expect(answers.map(({ statusCode }) => statusCode).toSorted()).toEqual([200, 404, 404]);
  expect((await call("POST", `/environments/${id}/archive`, bob.token, {})).statusCode).toBe(404);
  expect((await db.selectFrom("archive_codes").selectAll().execute()).length).toBeLessThan(2);
  expect(await list()).toHaveLength(1);
  await deleteNow();
  expect((await call("POST", `/environments/${id}/archive`, ada.token, {})).statusCode).toBe(404);
});

test("two downloads at once at most; a reader who disconnects frees the slot and everything else", async () => {
  const { link, url, driver, home, call, id, ada } = await setup();
  const noise = Array.from({ length: 400_000 }, (_, n) => Math.sin(n).toString(36)).join("");
  driver.machine.homes.set(home, new Map(Array.from({ length: 20 }, (_, n) => [`noise-${n}.txt`, noise] as const)));
  const begin = async () => {
    const request = get(`${url}${await link()}`);
    const response = await new Promise<import("node:http").IncomingMessage>((resolve, reject) => {
      request.on("response", resolve).on("error", reject);
    });
    response.on("error", () => {});
    expect(response.statusCode).toBe(200);
    return request;
  };
  const ask = async () => (await call("POST", `/environments/${id}/archive`, ada.token, {})).statusCode;
  const [first, second] = [await begin(), await begin()];
  expect(await ask()).toBe(429);
  first.destroy();
  await expect.poll(ask).toBe(200);
  second.destroy();
  const third = await begin();
  third.destroy();
});

async function* chunksOf(bytes: Buffer) {
  yield bytes;
}

test("G203 former files are downloaded and deleted by their own id, and nobody else's; the current ones stay", async () => {
  const { list, download, must, call, db, driver, ada, bob, id, home } = await setup();
  // As written by a fresh start, and by the job of retention when the machine is back.
  const { user_id, host_id, subdomain } = await db.selectFrom("homes").selectAll().executeTakeFirstOrThrow();
  const at = { used_at: new Date(), delete_at: new Date(Date.now() + 86_400_000), size_mb: 1 };
  const former = { id: "f".repeat(25), home: "former", user_id, host_id, subdomain, left_by: id, left_run: id, ...at };
  await db.insertInto("homes").values(former).execute();
  driver.machine.homes.set("former", new Map([["notes.txt", "former words"]]));
  const [files] = await list();
  expect(files).toMatchObject({ environment_id: id, former_id: former.id, subdomain: "adas-lab", banked_seconds: 0 });
  expect((await call("POST", `/environments/${former.id}/archive`, bob.token, {})).statusCode).toBe(404);
  const { url } = await must("POST", `/environments/${former.id}/archive`, ada.token, {});
  const reply = await download(url);
  expect(await filesIn(chunksOf(reply.rawPayload))).toEqual(new Map([["notes.txt", "former words"]]));
  const remove = (token: string) =>
    call("POST", `/environments/${former.id}/delete_files`, token, { confirm: "adas-lab" });
  expect((await remove(bob.token)).statusCode).toBe(404);
  expect((await remove(ada.token)).statusCode).toBe(200);
  await expect.poll(() => driver.machine.homes.has("former"), { timeout: 15_000 }).toBe(false);
  expect(await list()).toEqual([]);
  expect(driver.machine.homes.get(home)?.get("notes.txt")).toBe("words");
});
