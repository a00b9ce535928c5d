import { isChunkFailure } from "./is-chunk-failure.ts";

/** The parts of the signed-in screens, each loaded when it is first shown. */
export const screens = {
  dashboard: () => import("../dashboard/dashboard-page.tsx").then((part) => ({ Component: part.DashboardPage })),
  list: () => import("../environments/list/list-page.tsx").then((part) => ({ Component: part.ListPage })),
  launch: () => import("../launch/launch-page.tsx").then((part) => ({ Component: part.LaunchPage })),
  environment: () =>
    import("../environments/detail/environment-page.tsx").then((part) => ({ Component: part.EnvironmentPage })),
  extending: () => import("../launch/extend/extend-dialog.tsx").then((part) => ({ Component: part.ExtendDialog })),
  billing: () => import("../billing/billing-page.tsx").then((part) => ({ Component: part.BillingPage })),
  order: () => import("../billing/order/order-page.tsx").then((part) => ({ Component: part.OrderPage })),
  support: () => import("../support/support-page.tsx").then((part) => ({ Component: part.SupportPage })),
  settings: () => import("../settings/settings-page.tsx").then((part) => ({ Component: part.SettingsPage })),
};

/**
 * Loads all of them while the browser is idle, one after the other, so that a screen opens without a connection (G342).
 * Returns what ends it. A part that fails is loaded again when it is shown.
 */
export function loadScreensWhenIdle(): () => void {
  const left = Object.values(screens);
  const idle = globalThis.requestIdleCallback ?? ((work: () => void) => setTimeout(work, 200));
  let ended = false;
  const next = () => {
    const load = left.shift();
    if (ended || load === undefined) return;
    load()
      .catch((error: unknown) => {
        if (!isChunkFailure(error)) throw error;
      })
      .finally(() => idle(next));
  };
  // The screen that was asked for comes first.
  const timer = setTimeout(() => idle(next), 2_000);
  return () => {
    ended = true;
    clearTimeout(timer);
  };
}
