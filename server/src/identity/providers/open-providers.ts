import type { ProvidersConfig } from "../../config/provider-settings.ts";
import { github } from "./github.ts";
import { openidConnect } from "./openid-connect.ts";
import type { SignInProvider } from "./sign-in-provider.ts";

export interface SignInProviders {
  readonly all: readonly SignInProvider[];
  /** By its key. */
  find(key: string): SignInProvider | undefined;
  /** The issuer's name, also where it is no longer in the settings. */
  nameOf(issuer: string): string;
}

/** The providers of the settings. None is asked anything before the first sign-in. */
export function openProviders(config: ProvidersConfig): SignInProviders {
  const all = [...config.oidc.map(openidConnect), ...(config.github ? [github(config.github)] : [])];
  return {
    all,
    find: (key) => all.find((provider) => provider.key === key),
    nameOf: (issuer) => all.find((provider) => provider.issuer === issuer)?.name ?? new URL(issuer).host,
  };
}
