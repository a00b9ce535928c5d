import * as z from "zod";

const numbers = [1, 2, 3, 4, 5] as const;
type Field = "NAME" | "ISSUER" | "CLIENT_ID" | "CLIENT_SECRET" | "DOMAINS";
type OidcSetting = `OIDC_${(typeof numbers)[number]}_${Field}`;

/** Of the first provider; the others have the same. */
const fields = {
  ISSUER: {
    shape: z.string().refine(isSafeUrl, "the issuer's https address, as the provider names it"),
    description: "An OpenID Connect provider that people may sign in with (docs/operate/sign-in-providers.md)",
    example: "https://accounts.google.com",
  },
  CLIENT_ID: { shape: z.string().min(1), description: "The client's id, as that provider gave it", example: "..." },
  CLIENT_SECRET: { shape: z.string().min(1), description: "The client's secret", example: "..." },
  NAME: {
    shape: z.string().min(1).max(40),
    description: "The provider's name on buttons, as in Continue with Google",
    unset: "the issuer's host",
    example: "Google",
  },
  DOMAINS: {
    shape: z.string().regex(/^[a-z0-9.-]+(, ?[a-z0-9.-]+)*$/i, "such as uni.example,lab.example"),
    description: "Only people with an address of these domains, separated by commas, sign in with it",
    unset: "of any domain",
    example: "uni.example",
  },
} as const satisfies Record<Field, { readonly shape: z.ZodString; readonly unset?: string } & Record<string, unknown>>;

/** `like` names the setting whose row on the pages stands for this one too. */
function settingOf(field: Field, n: number): z.ZodOptional<z.ZodString> {
  const { shape, description, ...meta } = fields[field];
  const further =
    field === "ISSUER" ? "; OIDC_2_ISSUER to OIDC_5_ISSUER, with the same settings, are further ones" : "";
  return shape
    .optional()
    .describe(description + further)
    .meta({ ...meta, ...(n > 1 && { like: `OIDC_1_${field}` }) });
}

const oidcSettings = Object.fromEntries(
  numbers.flatMap((n) => Object.keys(fields).map((field) => [`OIDC_${n}_${field}`, settingOf(field as Field, n)])),
) as Record<OidcSetting, z.ZodOptional<z.ZodString>>;

/** Other services that people may sign in with, besides a password (G416). */
export const providerSettings = {
  ...oidcSettings,
  GITHUB_CLIENT_ID: z
    .string()
    .min(1)
    .optional()
    .describe("The OAuth app at GitHub that people may sign in with (docs/operate/sign-in-providers.md)")
    .meta({ example: "..." }),
  GITHUB_CLIENT_SECRET: z.string().min(1).optional().describe("The secret of that app").meta({ example: "..." }),
  GITHUB_URL: z
    .string()
    .refine(isSafeUrl, "the https address of a GitHub Enterprise Server")
    .default("https://github.com")
    .describe("Another GitHub than github.com, such as a GitHub Enterprise Server"),
};

const providerNames = Object.keys(providerSettings).filter((name) => name !== "GITHUB_URL");

type ProviderSettings = z.output<z.ZodObject<typeof providerSettings>>;

export interface OidcConfig {
  /** In paths: the number of its settings. */
  readonly key: string;
  readonly name: string;
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Small letters; empty: all. */
  readonly domains: readonly string[];
}

export interface GithubConfig {
  readonly url: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

export interface ProvidersConfig {
  readonly oidc: readonly OidcConfig[];
  readonly github: GithubConfig | undefined;
}

export function readProviders(v: ProviderSettings): ProvidersConfig {
  const oidc = numbers.flatMap((n) => {
    const issuer = v[`OIDC_${n}_ISSUER`];
    const [clientId, clientSecret] = [v[`OIDC_${n}_CLIENT_ID`], v[`OIDC_${n}_CLIENT_SECRET`]];
    if (!issuer || !clientId || !clientSecret) return [];
    const domains = (v[`OIDC_${n}_DOMAINS`] ?? "").toLowerCase().split(/, ?/).filter(Boolean);
    const { href, host } = new URL(issuer);
    return { key: String(n), name: v[`OIDC_${n}_NAME`] ?? host, issuer: href, clientId, clientSecret, domains };
  });
  const { GITHUB_CLIENT_ID: clientId, GITHUB_CLIENT_SECRET: clientSecret, GITHUB_URL: url } = v;
  return {
    oidc,
    github: clientId && clientSecret ? { url: url.replace(/\/$/, ""), clientId, clientSecret } : undefined,
  };
}

/** Sentences about settings of providers that do not fit together. */
export function providerConflicts(v: ProviderSettings & { readonly IDENTITY: "local" | "firebase" }): string[] {
  const some = (names: readonly string[]) => names.some((name) => v[name as keyof ProviderSettings] !== undefined);
  const half = numbers.flatMap((n) => {
    const needed = ["ISSUER", "CLIENT_ID", "CLIENT_SECRET"].map((field) => `OIDC_${n}_${field}`);
    const complete = needed.every((name) => some([name]));
    return complete || !some(providerNames.filter((name) => name.startsWith(`OIDC_${n}_`)))
      ? []
      : [`OIDC_${n}_ISSUER, OIDC_${n}_CLIENT_ID and OIDC_${n}_CLIENT_SECRET: set all three, or none`];
  });
  return [
    ...half,
    ...(Boolean(v.GITHUB_CLIENT_ID) !== Boolean(v.GITHUB_CLIENT_SECRET)
      ? ["GITHUB_CLIENT_ID and GITHUB_CLIENT_SECRET: set both, or none"]
      : []),
    ...(v.IDENTITY === "firebase" && some(providerNames)
      ? [
          "OIDC_1_ISSUER and GITHUB_CLIENT_ID are for IDENTITY=local: with IDENTITY=firebase that service signs people in",
        ]
      : []),
  ];
}

/** Plain HTTP is for a provider of this machine, which tests have. */
function isSafeUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, search, hash } = new URL(text);
  const own = ["localhost", "127.0.0.1", "[::1]"].includes(hostname);
  return (protocol === "https:" || (protocol === "http:" && own)) && search === "" && hash === "";
}
