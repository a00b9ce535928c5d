import type { RouteObject } from "react-router";
import { ErrorPage, ScreenError } from "./shell/error-page.tsx";
import { LoadingScreen } from "./shell/loading-screen.tsx";
import { screens } from "./shell/screens.ts";

const frame = () => import("./shell/app-frame.tsx").then((part) => ({ Component: part.AppFrame }));
const auth = () => import("./auth/auth-page.tsx").then((part) => ({ Component: part.AuthPage }));
const forgot = () => import("./auth/forgot-page.tsx").then((part) => ({ Component: part.ForgotPage }));
const reset = () => import("./auth/reset-page.tsx").then((part) => ({ Component: part.ResetPage }));
const verify = () => import("./auth/verify-page.tsx").then((part) => ({ Component: part.VerifyPage }));
const legal = () => import("./legal/legal-page.tsx").then((part) => ({ Component: part.LegalPage }));

/**
 * The routes of spec 2.1, the delivery policy (G84), the status page (G38), the confirmation of an address (G52) and the
 * hand-off to the gateway.
 */
export const routes: RouteObject[] = [
  {
    ErrorBoundary: ErrorPage,
    children: [
      {
        HydrateFallback: Nothing,
        children: [
          { path: "/", lazy: () => import("./landing/landing.tsx").then((part) => ({ Component: part.Landing })) },
          { path: "/terms-condition", lazy: legal },
          { path: "/refund", lazy: legal },
          { path: "/privacy-policy", lazy: legal },
          { path: "/legal-compliance", lazy: legal },
          { path: "/delivery-policy", lazy: legal },
          {
            path: "/status",
            lazy: () => import("./status/status-page.tsx").then((part) => ({ Component: part.StatusPage })),
          },
          {
            lazy: frame,
            children: [
              { path: "/login", lazy: auth },
              { path: "/signup", lazy: auth },
              { path: "/forgot-password", lazy: forgot },
              { path: "/reset-password", lazy: reset },
              { path: "/verify-email", lazy: verify },
              {
                path: "*",
                lazy: () => import("./shell/not-found-page.tsx").then((part) => ({ Component: part.NotFoundPage })),
              },
            ],
          },
        ],
      },
      { HydrateFallback: LoadingScreen, lazy: frame, children: [guarded()] },
    ],
  },
];

function guarded(): RouteObject {
  return {
    lazy: () => import("./shell/guard.tsx").then((part) => ({ Component: part.Guard })),
    children: [
      { path: "/open", lazy: () => import("./shell/open-page.tsx").then((part) => ({ Component: part.OpenPage })) },
      {
        lazy: () => import("./shell/shell.tsx").then((part) => ({ Component: part.Shell })),
        children: [
          {
            // Inside the frame, so that a broken screen keeps its navigation.
            ErrorBoundary: ScreenError,
            children: [
              {
                path: "/dashboard",
                lazy: screens.dashboard,
              },
              {
                path: "/environments",
                lazy: screens.list,
                children: [{ index: true, lazy: screens.extending }],
              },
              {
                path: "/environments/create",
                lazy: screens.launch,
              },
              {
                path: "/environments/:id",
                lazy: screens.environment,
                children: [{ index: true, lazy: screens.extending }],
              },
              {
                path: "/billing",
                lazy: screens.billing,
              },
              {
                path: "/billing/orders/:orderId",
                lazy: screens.order,
              },
              {
                path: "/support",
                lazy: screens.support,
              },
              {
                path: "/settings",
                lazy: screens.settings,
              },
            ],
          },
        ],
      },
    ],
  };
}

function Nothing() {
  return null;
}
