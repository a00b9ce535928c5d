import "../styles.ts";
import "@mantine/core/styles.layer.css";
import "@mantine/notifications/styles.layer.css";
import { QueryClientProvider } from "@tanstack/react-query";
import { createRoot } from "react-dom/client";
import { createBrowserRouter } from "react-router";
import { RouterProvider } from "react-router/dom";
import { Providers } from "../providers.tsx";
import { Toaster } from "../ui/toast/toaster.tsx";
import { consoleRoutes } from "./console-routes.tsx";
import { consoleClient } from "./frame/console-client.ts";

/** The operator's console: an app of its own, which shares looks and parts with the tenants' one (G143). */
const root = document.getElementById("root");
if (!root) throw new Error("index.html has no #root");

const router = createBrowserRouter(consoleRoutes, { basename: "/operator" });

createRoot(root).render(
  <Providers>
    <QueryClientProvider client={consoleClient()}>
      <Toaster />
      <RouterProvider router={router} />
    </QueryClientProvider>
  </Providers>,
);
