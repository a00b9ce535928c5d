/** The sentence for a code in the address that a sign-in by another provider ends at (docs/internals/identity.md). */
export function providerFailure(code: string, name = "The other service"): string {
  return byCode[code]?.(name) ?? unproven(name);
}

const unproven = (name: string) =>
  `${name}'s answer could not be verified, so nobody was signed in. Try again; if it stays so, write to us.`;

const byCode: Readonly<Record<string, (name: string) => string>> = {
  expired: () => "That took too long, or was answered before. Begin again.",
  browser: () => "That was begun in another browser. Begin again in this one.",
  denied: (name) => `${name} did not sign you in. Nothing was changed.`,
  away: (name) => `${name} does not answer right now. Try again in a moment.`,
  address: (name) => `${name} has not confirmed your email address. Confirm it there, then try again.`,
  domain: (name) => `Your email address at ${name} is not one that may sign in here.`,
  unproven,
};
