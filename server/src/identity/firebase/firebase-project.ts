import type { ServiceAccount } from "../../config/firebase-settings.ts";

/** As long as the provider's ids are, and without what the database refuses. */
export const hostedIdPattern = /^[\x21-\x7e]{1,128}$/;

/** A project of Firebase Authentication, from the settings. */
export interface FirebaseProject {
  readonly projectId: string;
  /** The Web API key, which browsers get. */
  readonly apiKey: string;
  /** Undefined with the emulator, which asks for none. */
  readonly serviceAccount: ServiceAccount | undefined;
  /** Host and port of an emulator on this machine, whose tokens are not signed (config/conflicts.ts). */
  readonly emulator: string | undefined;
}

/** Where the provider is; another one in tests. */
export interface ProviderUrls {
  readonly accounts: string;
  readonly token: string;
  /** What the service account signs in at. */
  readonly oauth: string;
  /** The key set of ID tokens. */
  readonly keys: string;
}

export function providerUrls({ emulator }: FirebaseProject): ProviderUrls {
  const at = (host: string) => (emulator === undefined ? `https://${host}` : `http://${emulator}/${host}`);
  return {
    accounts: `${at("identitytoolkit.googleapis.com")}/v1`,
    token: `${at("securetoken.googleapis.com")}/v1/token`,
    oauth: "https://oauth2.googleapis.com/token",
    keys: "https://www.googleapis.com/service_accounts/v1/jwk/securetoken@system.gserviceaccount.com",
  };
}
