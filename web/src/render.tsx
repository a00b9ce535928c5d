import { renderToStaticMarkup } from "react-dom/server";
import { createStaticHandler, createStaticRouter, StaticRouter, StaticRouterProvider } from "react-router";
import { DocsPage } from "./docs/docs-page.tsx";
import type { DocsView } from "./docs/docs-view.ts";
import { Providers } from "./providers.tsx";
import { routes } from "./routes.tsx";

/** The markup of a public page. Not part of the browser app. */
export async function render(url: string): Promise<string> {
  const handler = createStaticHandler(routes);
  const context = await handler.query(new Request(url));
  if (context instanceof Response) throw new Error(`${url} redirects`);
  return renderToStaticMarkup(
    <Providers>
      <StaticRouterProvider
        router={createStaticRouter(handler.dataRoutes, context)}
        context={context}
        hydrate={false}
      />
    </Providers>,
  );
}

/** The markup of a page of the documentation, which is no route of the app. Used at build time only. */
export function renderDocs(view: DocsView): string {
  return renderToStaticMarkup(
    <Providers>
      <StaticRouter location={view.path}>
        <DocsPage {...view} />
      </StaticRouter>
    </Providers>,
  );
}
