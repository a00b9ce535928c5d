/** What a provider says of who signed in. */
export interface ProviderAccount {
  /** Stays, whatever the address. */
  readonly subject: string;
  /** Null unless the provider has confirmed it. */
  readonly email: string | null;
  readonly name: string;
}

/** One sign-in on its way to the provider and back. */
export interface Attempt {
  readonly state: string;
  readonly nonce: string;
  /** Of PKCE. */
  readonly verifier: string;
  /** Milliseconds since the epoch, by this machine's clock. */
  readonly startedAt: number;
}

/** An OpenID Connect provider or GitHub, whose accounts may sign in here (G416). */
export interface SignInProvider {
  /** In paths. */
  readonly key: string;
  /** On buttons. */
  readonly name: string;
  /** With a subject it identifies an account at the provider. */
  readonly issuer: string;
  /** Domains of addresses, in small letters; empty: all. */
  readonly domains: readonly string[];
  /** Where the browser is sent. Throws ProviderError. */
  authorizeUrl(redirectUri: string, attempt: Attempt): Promise<string>;
  /** `answer` is the redirect URI with the provider's parameters. Throws ProviderError. */
  exchange(answer: URL, attempt: Attempt): Promise<ProviderAccount>;
}

/** `denied`: by the person or the provider. `away`: no answer. `clock`: too far from ours. `unproven`: anything else. */
export type ProviderProblem = "denied" | "away" | "clock" | "unproven";

export class ProviderError extends Error {
  readonly problem: ProviderProblem;

  constructor(problem: ProviderProblem, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "ProviderError";
    this.problem = problem;
  }
}
