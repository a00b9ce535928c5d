import "./styles.ts";
import { createRoot, hydrateRoot } from "react-dom/client";
import { createBrowserRouter } from "react-router";
import { RouterProvider } from "react-router/dom";
import { Providers } from "./providers.tsx";
import { routes } from "./router.tsx";

const root = document.getElementById("root");
if (!root) throw new Error("index.html has no #root");

const app = (
  <Providers>
    <RouterProvider router={createBrowserRouter(routes)} />
  </Providers>
);

// Only the landing page comes drawn; every other address gets the empty shell.
if (root.hasChildNodes()) hydrateRoot(root, app);
else createRoot(root).render(app);
