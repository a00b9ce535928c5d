import type { Config } from "../../config/config.ts";

/** The console's address, without a path. */
export function consoleUrl({ url, port }: NonNullable<Config["console"]>): string {
  return url ?? `http://localhost:${port}`;
}
