import "@mantine/core/styles.layer.css";
import "@mantine/notifications/styles.layer.css";
import { QueryClientProvider } from "@tanstack/react-query";
import { useEffect } from "react";
import { Outlet } from "react-router";
import { startRefreshing } from "../api/current-token.ts";
import { createQueryClient } from "../api/query-client.ts";
import { Toaster } from "../ui/toast/toaster.tsx";

/** One for the page: signing in and out moves between frames, and what is not personal stays known. */
const client = createQueryClient();

/** What every screen but the public pages needs: data, toasts, a token that stays young. */
export function AppFrame() {
  useEffect(startRefreshing, []);
  return (
    <QueryClientProvider client={client}>
      <Toaster />
      <Outlet />
    </QueryClientProvider>
  );
}
