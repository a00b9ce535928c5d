/** All merchant calls come from this server's own address, so a rate limit per address would block its sales. */
export const withoutRateLimit = { config: { rateLimit: false as const } };
