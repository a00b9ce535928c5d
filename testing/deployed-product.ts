import type { Product } from "./product.ts";

/** An installation that runs already, behind its proxy: browser tests reach it by its names. */
export function deployedProduct({ url, envHost }: { readonly url: string; readonly envHost: string }): Product {
  const { port, protocol } = new URL(url);
  const unknown = (): never => {
    throw new Error("a test of an installation that was not started here uses the browser alone");
  };
  return {
    url,
    port: Number(port || 443),
    environmentUrl: (subdomain) => `${protocol}//${subdomain}.${envHost}${port && `:${port}`}`,
    pid: 0,
    dataDir: "",
    operatorPage: unknown,
    output: unknown,
    stop: async () => {},
    kill: unknown,
  };
}
