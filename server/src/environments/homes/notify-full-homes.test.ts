import { expect, test } from "vitest";
import { setupEnvironments } from "../testing/setup-environments.ts";
import { notifyFullHomes } from "./notify-full-homes.ts";

test("the owner of a nearly full home is notified once, and again after there was space", async () => {
  const { db, deps, rent, read } = await setupEnvironments();
  const [ada, bob] = [await rent({ userId: "ada" }), await rent({ userId: "bob" })];
  const notices = async () =>
    (await db.selectFrom("notifications").select("user_id").where("cause", "like", "full:%").execute()).length;
  const measure = async (id: string, ...sizesMb: number[]) => {
    for (const homeMb of sizesMb) await notifyFullHomes(db, deps.announce, [{ environmentId: id, homeMb }]);
  };
  await measure(ada, 10, 44_999);
  expect(await notices()).toBe(0);
  await measure(ada, 45_000, 49_000, 44_000, 45_000);
  await measure(bob, 1);
  const recorded = await db.selectFrom("notifications").selectAll().where("cause", "like", "full:%").execute();
  expect(recorded).toMatchObject([
    { user_id: "ada", link: `/environments/${ada}`, body: expect.stringMatching("^Its files take 45 of 50 GB.") },
  ]);
  expect(recorded[0]?.title).toBe(`${(await read(ada)).subdomain} is nearly full`);
  await measure(ada, 39_999, 44_999);
  expect(await notices()).toBe(1);
  await measure(ada, 46_000);
  expect(await notices()).toBe(2);
});
