import { use } from "react";
import { prerender } from "react-dom/static";
import { expect, test, vi } from "vitest";
import { useReload } from "./use-reload.ts";

test("a render that React throws away does not take the turn to reload", async () => {
  const stored = new Map<string, string>();
  vi.stubGlobal("sessionStorage", {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => stored.set(key, value),
  });
  const later = new Promise((done) => setTimeout(done, 5));
  let renders = 0;
  function Screen() {
    renders++;
    const isReloading = useReload(new TypeError("Failed to fetch dynamically imported module: /a.js"));
    use(later);
    return isReloading ? "reloading" : "failed";
  }
  const { prelude } = await prerender(<Screen />);
  expect(await new Response(prelude).text()).toBe("reloading");
  expect(renders).toBeGreaterThan(1);
  vi.unstubAllGlobals();
});
