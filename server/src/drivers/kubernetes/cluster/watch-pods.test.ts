import { beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { openProxiedMachine, type ProxiedMachine } from "../../testing/cluster-proxy.ts";
import { testSpec, waitForState } from "../../testing/drive-run.ts";
import { whyNoKubernetes } from "../../testing/kubernetes-machine.ts";

vi.setConfig({ testTimeout: 120_000 });
const poll = { timeout: 30_000, interval: 100 };

const absent = await whyNoKubernetes();
describe.skipIf(absent)(absent ? `watches, skipped because ${absent}` : "watches", () => {
  let proxied: ProxiedMachine;
  beforeAll(async () => {
    proxied = await openProxiedMachine();
    return proxied.close;
  }, 300_000);

  /** A driver behind the proxy, which has named these ids since the last `forget`. */
  async function watching() {
    const { machine, proxy } = proxied;
    proxy.fault = "none";
    const driver = proxied.openBehind();
    const direct = await machine.open();
    const stopping = new AbortController();
    const named = new Set<string>();
    const done = (async () => {
      for await (const id of driver.watch(stopping.signal)) named.add(id);
    })();
    onTestFinished(async () => {
      stopping.abort();
      await done;
    });
    const begun = proxy.watches();
    await expect.poll(() => proxy.watches(), poll).toBeGreaterThan(begun);
    return { proxy, driver, direct, named, forget: () => named.clear() };
  }

  test.each(["event", "status"] as const)(
    "a watch that has expired (410 by its %s) begins again with a list: no change is lost, and an end is awaited to its end",
    async (fault) => {
      const { proxy, driver, direct, named, forget } = await watching();
      const wanted = testSpec();
      onTestFinished(() => direct.stop(wanted.id, 0));
      await direct.start(wanted);
      await waitForState(direct, wanted.id, "running");
      await expect.poll(() => named.has(wanted.id), poll).toBe(true);

      proxy.fault = fault;
      proxy.drop();
      forget();
      // Waits by a watch too.
      await driver.stop(wanted.id, 0);
      expect(await direct.observe(wanted.id)).toEqual({ state: "absent" });
      await expect.poll(() => named.has(wanted.id), poll).toBe(true);

      const before = proxy.watches();
      proxy.fault = "none";
      await expect.poll(() => proxy.watches(), poll).toBeGreaterThan(before);
      forget();
      const next = testSpec();
      onTestFinished(() => direct.stop(next.id, 0));
      await direct.start(next);
      await expect.poll(() => named.has(next.id), poll).toBe(true);
    },
  );

  test("an API server that is away for a while: nothing is lost for the watch, and the verbs say so in a sentence", async () => {
    const { proxy, driver, direct, named, forget } = await watching();
    const [ended, wanted] = [testSpec(), testSpec()];
    for (const { id } of [ended, wanted]) onTestFinished(() => direct.stop(id, 0));
    await direct.start(ended);
    await waitForState(direct, ended.id, "running");
    await expect.poll(() => named.has(ended.id), poll).toBe(true);
    proxy.fault = "cut";
    proxy.drop();
    await direct.start(wanted);
    await direct.stop(ended.id, 0);
    const broken = {
      code: "unavailable",
      message: expect.stringContaining("The connection to the Kubernetes API server"),
    };
    await expect(driver.observe(wanted.id)).rejects.toMatchObject(broken);
    await expect(driver.list()).rejects.toMatchObject(broken);
    forget();
    proxy.fault = "none";
    // One that began and ended between two lists is in neither.
    await expect.poll(() => [...named], poll).toEqual(expect.arrayContaining([ended.id, wanted.id]));
    await waitForState(driver, wanted.id, "running");
  });
});
