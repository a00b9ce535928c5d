import type { Page } from "@playwright/test";

interface Counted {
  /** Components that React rendered inside a table's body. */
  rows: number;
  /** Dates and numbers that were formatted. */
  formats: number;
}

/** Counts, from the next load of the page on, by the hook that React offers to its developer tools. */
export async function countRenders(page: Page): Promise<void> {
  await page.addInitScript(watchRenders);
}

/** What was counted since the last call. */
export function takeRenders(page: Page): Promise<Counted> {
  return page.evaluate(() => (globalThis as unknown as { takeRenders: () => Counted }).takeRenders());
}

/** Runs in the page before its own scripts. */
function watchRenders(): void {
  interface Fiber {
    readonly tag: number;
    readonly type: unknown;
    readonly flags: number;
    readonly child: Fiber | null;
    readonly sibling: Fiber | null;
    readonly alternate: Fiber | null;
  }
  let counted: Counted = { rows: 0, formats: 0 };
  // Function, class, forwarded and memoized components, as React numbers them.
  const components = new Set([0, 1, 11, 15]);
  const performedWork = 1;
  const visit = (fiber: Fiber, inRows: boolean): void => {
    if (inRows && components.has(fiber.tag) && fiber.flags & performedWork) counted.rows += 1;
    // The same child: nothing below was rendered in this commit.
    if (fiber.alternate !== null && fiber.alternate.child === fiber.child) return;
    for (let child = fiber.child; child !== null; child = child.sibling) visit(child, inRows || fiber.type === "tbody");
  };
  const hook = {
    supportsFiber: true,
    inject: () => 1,
    onCommitFiberRoot: (_id: number, root: { readonly current: Fiber }) => visit(root.current, false),
    onCommitFiberUnmount: () => undefined,
    onPostCommitFiberRoot: () => undefined,
  };
  const take = (): Counted => {
    const taken = counted;
    counted = { rows: 0, formats: 0 };
    return taken;
  };
  Object.assign(globalThis, { __REACT_DEVTOOLS_GLOBAL_HOOK__: hook, takeRenders: take });
  for (const prototype of [Date.prototype, Number.prototype]) {
    const format = prototype.toLocaleString as (...options: unknown[]) => string;
    prototype.toLocaleString = function (this: Date & number, ...options: unknown[]) {
      counted.formats += 1;
      return format.apply(this, options);
    };
  }
}
