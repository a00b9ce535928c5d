import { environmentAddress } from "../../format.ts";

/** The host name as people write it, port included; an empty subdomain gives the suffix. `template` is `GET /config`'s. */
export function hostOf(template: string, subdomain: string): string {
  return environmentAddress(template, subdomain)
    .replace(/^https?:\/\//, "")
    .replace(/\/$/, "");
}
