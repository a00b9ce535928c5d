import { beginPasskeySignIn, type NewPasskey, type PasskeyCreationOptions, passkeySignIn } from "@berth/contract";
import { ApiError } from "./api-error.ts";
import { browserToken } from "./browser-token.ts";
import { call, messageOf } from "./call.ts";
import { useConfig } from "./product-config.ts";
import { type Session, saveSession } from "./session.ts";

/** Loaded when a passkey is made or used. */
const library = () => import("@simplewebauthn/browser");

/** A challenge counts for five minutes, and a sign-in page may stay open for hours. */
const renewEveryMs = 4 * 60_000;

/** Whether this browser and this installation have passkeys (G424). */
export function usePasskeysOffered(): boolean {
  return useConfig()?.identity.passkeys === true && typeof PublicKeyCredential === "function";
}

/** Asks the browser, which asks its user. @throws what `passkeyFailure` has words for */
export async function createPasskey(optionsJSON: PasskeyCreationOptions): Promise<NewPasskey> {
  const { startRegistration } = await library();
  const { id, rawId, response } = await startRegistration({ optionsJSON });
  const { clientDataJSON, attestationObject } = response;
  return { id, rawId, type: "public-key", response: { clientDataJSON, attestationObject } };
}

/**
 * Stores the session. With `whileWanted` it waits, as long as that is true, until a passkey is chosen in the address field.
 * @throws as `createPasskey`, ApiError
 */
export async function logInWithPasskey(whileWanted?: () => boolean): Promise<void> {
  const { startAuthentication } = await library();
  const { options } = await call(beginPasskeySignIn, { params: {}, body: {} });
  if (whileWanted?.() === false) return;
  const useBrowserAutofill = whileWanted !== undefined;
  const { id, rawId, response } = await startAuthentication({ optionsJSON: options, useBrowserAutofill });
  const credential = { id, rawId, type: "public-key" as const, response };
  saveSession(sessionOf(await call(passkeySignIn, { params: {}, body: { credential } }, { browser: browserToken() })));
}

interface SignedIn {
  readonly user_id: string;
  readonly email: string;
  readonly id_token: string;
  readonly refresh_token: string;
  readonly expires_in: number;
}

function sessionOf({ user_id, email, id_token, refresh_token, expires_in }: SignedIn): Session {
  const expiresAt = Date.now() + expires_in * 1000;
  return { idToken: id_token, refreshToken: refresh_token, expiresAt, userId: user_id, email };
}

/**
 * Offers passkeys in the browser's autofill until the returned function is called. Tells only what the server refused: all else
 * is a browser that does not offer them, or that was asked something else.
 */
export function offerPasskeys(onRefused: (text: string) => void): () => void {
  let stopped = false;
  const offer = async () => {
    if (stopped || !(await PublicKeyCredential.isConditionalMediationAvailable?.())) return;
    await logInWithPasskey(() => !stopped);
  };
  const begin = () =>
    void offer().catch((error: unknown) => {
      if (stopped || !(error instanceof ApiError) || error.code !== "passkey_refused") return;
      onRefused(error.message);
      begin();
    });
  begin();
  const timer = setInterval(begin, renewEveryMs);
  return () => {
    stopped = true;
    clearInterval(timer);
    void library().then(({ WebAuthnAbortService }) => WebAuthnAbortService.cancelCeremony());
  };
}

const byCode: Readonly<Record<string, string>> = {
  ERROR_AUTHENTICATOR_PREVIOUSLY_REGISTERED: "This device has a passkey of your account already.",
  ERROR_AUTHENTICATOR_MISSING_DISCOVERABLE_CREDENTIAL_SUPPORT: "This device cannot keep passkeys. Use another one.",
  ERROR_AUTHENTICATOR_MISSING_USER_VERIFICATION_SUPPORT:
    "This device cannot check that it is you. Set a PIN, a fingerprint or a face there, or use another one.",
};

/** What to show of a passkey that was not made or used. */
export function passkeyFailure(error: unknown): string {
  if (error instanceof ApiError) return messageOf(error);
  const { code = "", name = "" } = error as { code?: string; name?: string };
  if (name === "SecurityError")
    return `The browser allows no passkeys at ${location.host}. Open this site at its own address.`;
  return byCode[code] ?? "No passkey was chosen, or it took too long. Try again.";
}
