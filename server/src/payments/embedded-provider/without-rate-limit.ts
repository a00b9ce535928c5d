/** The merchant's calls come from this very server, all from one address: a limit per address would stop its own sales. */
export const withoutRateLimit = { config: { rateLimit: false as const } };
