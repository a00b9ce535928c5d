import "./styles.ts";
import { createRoot, hydrateRoot } from "react-dom/client";
import { createBrowserRouter, matchRoutes } from "react-router";
import { RouterProvider } from "react-router/dom";
import { Providers } from "./providers.tsx";
import { routes } from "./router.tsx";

const root = document.getElementById("root");
if (!root) throw new Error("index.html has no #root");

// Public pages come drawn, every other address gets the empty shell. A drawn page is taken over only once its code is
// there: React's first render has to be what stands on the page. Without its code it stays as it was drawn, and its links
// work.
if (root.hasChildNodes()) loadRoutes().then(() => hydrateRoot(root, app()));
else createRoot(root).render(app());

function app() {
  return (
    <Providers>
      <RouterProvider router={createBrowserRouter(routes)} />
    </Providers>
  );
}

async function loadRoutes(): Promise<void> {
  const found = matchRoutes(routes, location) ?? [];
  await Promise.all(
    found.map(async ({ route }) => {
      if (typeof route.lazy === "function") Object.assign(route, await route.lazy(), { lazy: undefined });
    }),
  );
}
