import "@mantine/core/styles.layer.css";
import "@mantine/notifications/styles.layer.css";
import { QueryClientProvider } from "@tanstack/react-query";
import { useEffect } from "react";
import { Outlet } from "react-router";
import { startRefreshing } from "../api/current-token.ts";
import { createQueryClient } from "../api/query-client.ts";
import { Toaster } from "../ui/toast/toaster.tsx";

/** One for the page: signing in and out changes frames, and data that is not personal stays. */
const client = createQueryClient();

/** For every screen but the public pages: data, toasts, and the refresh of the token. */
export function AppFrame() {
  useEffect(startRefreshing, []);
  return (
    <QueryClientProvider client={client}>
      <Toaster />
      <Outlet />
    </QueryClientProvider>
  );
}
