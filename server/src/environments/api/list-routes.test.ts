import { sql } from "kysely";
import { expect, test } from "vitest";
import { setupRoutes } from "../testing/setup-routes.ts";
import { listRoutes } from "./list-routes.ts";

test("a name's route is its live environment, else the last ended one while its files are kept", async () => {
  const { db, rent, reach, want, read } = await setupRoutes();
  const first = await rent({ subdomain: "mine" });
  await reach(first, "active");
  const { run_token: runToken, endpoint, secret } = await read(first);
  expect(await listRoutes(db)).toMatchObject([
    { id: first, subdomain: "mine", userId: "user", status: "active", runToken, endpoint, secret, filesUntil: null },
  ]);
  await want(first, "terminated");
  await reach(first, "terminated");
  expect(await listRoutes(db, first)).toMatchObject([
    { id: first, status: "terminated", runToken: null, endpoint: null, filesUntil: expect.any(Date) },
  ]);
  const second = await rent({ subdomain: "mine" });
  expect((await listRoutes(db, first)).map(({ id }) => id)).toEqual([second]);
  await reach(second, "active");
  await want(second, "terminated");
  await reach(second, "terminated");
  expect((await listRoutes(db)).map(({ id }) => id)).toEqual([second]);
  await sql`update subdomain_claims set retained_until = now()`.execute(db);
  expect(await listRoutes(db, second)).toEqual([]);
});
