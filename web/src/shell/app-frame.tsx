import "@mantine/core/styles.layer.css";
import "@mantine/notifications/styles.layer.css";
import { QueryClientProvider } from "@tanstack/react-query";
import { useEffect } from "react";
import { Outlet } from "react-router";
import { startRefreshing } from "../api/current-token.ts";
import { createQueryClient } from "../api/query-client.ts";
import { Toaster } from "../ui/toast/toaster.tsx";

/** One client per page, because signing in and out switches frames while non-personal data stays. */
const client = createQueryClient();

/** The frame of all screens except public pages: query cache, toasts, token refresh. */
export function AppFrame() {
  useEffect(startRefreshing, []);
  return (
    <QueryClientProvider client={client}>
      <Toaster />
      <Outlet />
    </QueryClientProvider>
  );
}
