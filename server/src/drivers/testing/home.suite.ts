import { expect, test } from "vitest";
import { callLab, filesIn, type Given, testSpec } from "./drive-run.ts";

/** The part of the contract that is about homes: deleted, archived and restored. */
export function homeSuite(given: () => Given): void {
  test("G111 a used home that is missing is not created again; one that exists is used", async () => {
    const { driver, begin } = given();
    const wanted = await begin();
    await driver.stop(wanted.id, 1_000);
    const kept = await begin({ ...wanted, generation: 2, homeIsKept: true });
    const { homeIsKept: _, ...first } = kept;
    await driver.start(first);
    expect(await driver.observe(wanted.id), "the same run").toMatchObject({ generation: 2 });
    await driver.stop(wanted.id, 1_000);
    await driver.deleteHome(wanted.home);
    await expect(driver.start({ ...kept, generation: 3 })).rejects.toMatchObject({ code: "no_home" });
    expect(await driver.observe(wanted.id)).toEqual({ state: "absent" });
    expect(await driver.homeMb(wanted.home)).toBe(0);
  });

  test("deleteHome is refused while a run uses the home, and idempotent after", async () => {
    const { driver, begin } = given();
    const wanted = await begin();
    await callLab(driver, wanted, "PUT", "/api/contents/gone.txt", 5_000, "text");
    await expect(driver.deleteHome(wanted.home)).rejects.toMatchObject({ code: "refused" });
    await driver.stop(wanted.id, 3_000);
    await driver.deleteHome(wanted.home);
    await driver.deleteHome(wanted.home);
    const again = await begin({ ...wanted, generation: 2 });
    expect(await callLab(driver, again, "GET", "/api/contents/gone.txt")).toMatchObject({ status: 404 });
  });

  test("an archive has the files of a home, while it runs and after; an absent home is empty; an abort ends it", async () => {
    const { driver, begin } = given();
    const wanted = await begin();
    await callLab(driver, wanted, "PUT", "/api/contents/r%C3%A4um%201.txt", 5_000, "words\n");
    const signal = new AbortController().signal;
    const files = async () => filesIn(driver.archive(wanted.home, signal));
    expect((await files()).get("räum 1.txt")).toBe("words\n");
    await driver.stop(wanted.id, 3_000);
    expect((await files()).get("räum 1.txt")).toBe("words\n");
    expect(await driver.homeMb(wanted.home)).toBeGreaterThan(0);
    expect(await filesIn(driver.archive(testSpec().home, signal))).toEqual(new Map());
    expect(await driver.homeMb(testSpec().home)).toBe(0);
    expect(() => driver.archive("../x", signal)).toThrow(expect.objectContaining({ code: "refused" }));
    await expect(filesIn(driver.archive(wanted.home, AbortSignal.abort()))).rejects.toThrow("aborted");
  });

  test("G195 a home restored from an archive has the same files, and is started on; one that breaks off is an error", async () => {
    const { driver, begin } = given();
    const wanted = await begin();
    await callLab(driver, wanted, "PUT", "/api/contents/r%C3%A4um%201.txt", 5_000, "words\n");
    await driver.stop(wanted.id, 3_000);
    const { signal } = new AbortController();
    const archive = () => driver.archive(wanted.home, signal);
    const count = await driver.countHome(wanted.home, signal);
    expect([count?.entries, count?.bytes].every((figure = 0) => figure > 0)).toBe(true);
    const copy = testSpec();
    expect(await driver.countHome(copy.home, signal)).toBeUndefined();
    const cutShort = async function* () {
      for await (const piece of archive()) {
        yield piece.subarray(0, 20);
        throw new Error("cut");
      }
    };
    await expect(driver.restore(copy, cutShort(), signal)).rejects.toThrow("cut");
    await driver.deleteHome(copy.home);
    await driver.restore(copy, archive(), signal);
    expect(await driver.countHome(copy.home, signal)).toEqual(count);
    await expect(driver.restore(copy, archive(), signal)).rejects.toMatchObject({ code: "refused" });
    const aborted = AbortSignal.abort(new Error("enough"));
    await expect(driver.countHome(copy.home, aborted)).rejects.toThrow("enough");
    await expect(driver.restore(testSpec(), archive(), aborted)).rejects.toThrow();
    await begin({ ...copy, homeIsKept: true });
    const found = await callLab(driver, copy, "GET", "/api/contents/r%C3%A4um%201.txt");
    expect(found).toMatchObject({ body: { content: "words\n" } });
  });
}
