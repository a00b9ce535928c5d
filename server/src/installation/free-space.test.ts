import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { dataFolder, emptyDatabase, start } from "../testing/server-process.ts";
import { orderBody } from "../testing/test-app.ts";
import { diskSpaceOf } from "./free-space.ts";

const mib = 1024 ** 2;

/** A disk of 64 MiB; undefined if mounting is not permitted. */
function smallDisk(): string | undefined {
  const folder = join(dataFolder(), "disk");
  mkdirSync(folder);
  if (spawnSync("mount", ["-t", "tmpfs", "-o", "size=64m", "tmpfs", folder]).status !== 0) return undefined;
  onTestFinished(() => void spawnSync("umount", ["--lazy", folder]));
  return folder;
}

/** Leaves this much of the disk free. */
function fillUpTo(folder: string, freePercent: number): void {
  const { bavail, blocks, bsize } = statfsSync(folder);
  const bytes = Math.floor(bavail * bsize - (blocks * bsize * freePercent) / 100);
  writeFileSync(join(folder, `filler-${freePercent}`), Buffer.alloc(bytes));
}

test("free space in bytes and percent is the same as in df", async () => {
  const folder = dataFolder();
  const space = await diskSpaceOf(folder);
  const { stdout } = spawnSync("df", ["--block-size=1", "--output=avail,pcent", folder], { encoding: "utf8" });
  const [avail = 0, used = 0] = (stdout.split("\n")[1] ?? "")
    .trim()
    .split(/[\s%]+/)
    .map(Number);
  expect(Math.abs(space.freeBytes - avail)).toBeLessThan(512 * mib);
  expect(Math.abs(100 - used - space.freePercent)).toBeLessThan(3);
});

test("below 10 % free space is a warning, and below 5 % no environment is sold (P11; needs root for its disk)", async ({
  skip,
}) => {
  const folder = smallDisk();
  if (!folder) return skip("no file system can be mounted here");
  const { url: DATABASE_URL } = await emptyDatabase();
  const { url, logged } = start({ DATA_DIR: folder, DATABASE_URL });
  fillUpTo(folder, 8);
  const address = (await url()).replace("localhost", "127.0.0.1");
  const post = async (path: string, body: object, token?: string) => {
    const headers = { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) };
    const answer = await fetch(`${address}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    // biome-ignore lint/suspicious/noExplicitAny: any reply
    return { status: answer.status, headers: answer.headers, body: (await answer.json()) as any };
  };
  const ready = async () => ((await (await fetch(`${address}/readyz`)).json()) as { disk: string }).disk;
  await expect
    .poll(() => logged()[0], { timeout: 10_000 })
    .toMatchObject({ event: "disk.low", msg: expect.stringMatching(/^7 % \(\d+ MiB\) of the disk of \S+ are free;/) });
  expect(await ready()).toBe("low");

  const account = { email: "ada@example.com", password: "good password 1", name: "Ada" };
  const { access_token: token } = (await post("/auth/signup", account)).body;
  const signIn = "/identity/v1/accounts:signInWithCustomToken?key=local";
  const { localId, idToken } = (await post(signIn, { token, returnSecureToken: true })).body;
  const order = () => post("/docker/payments/create_order", orderBody(localId), idToken);
  fillUpTo(folder, 3);
  expect(await ready()).toBe("full");
  const refused = await order();
  expect([refused.status, refused.body.code, refused.body.message]).toEqual([
    503,
    "unavailable",
    "The disk of this service is nearly full, so no new environment is sold at the moment. Nothing was charged. Try again later.",
  ]);
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  rmSync(join(folder, "filler-3"));
  expect((await order()).body).toMatchObject({ status: "success" });
}, 90_000);
