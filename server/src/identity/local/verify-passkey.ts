import { generateKeyPairSync } from "node:crypto";
import type { NewPasskey, UsedPasskey } from "@berth/contract";
import { AppError } from "../../app-error.ts";
import { isChallenge } from "./passkey-challenges.ts";

/** Where passkeys are valid: pages of one origin. */
export interface RelyingParty {
  readonly id: string;
  readonly origin: string;
}

export interface PasskeyKey {
  readonly credentialId: string;
  readonly publicKey: Buffer;
  readonly signCount: number;
  readonly isBackedUp: boolean;
}

/** Each way in which a passkey is refused, in one sentence that is the same whether there is such an account or not. */
export const passkeyRefusals = {
  late: "This took too long, or it was used before. Try again.",
  unknown: "This passkey is not known here. Log in with your password; passkeys are added under Settings, Security.",
  unverified: "The device did not check that it is you. Use a passkey with a PIN, a fingerprint or a face.",
  copied:
    "This passkey may have been copied, so it was refused. Log in with your password and replace it under Settings, Security.",
  unreadable: "This passkey could not be read. Try again, or use another device.",
  known: "This passkey was added before",
} as const;

export function refusePasskey(why: keyof typeof passkeyRefusals): never {
  throw new AppError("passkey_refused", passkeyRefusals[why]);
}

interface Expected {
  readonly relyingParty: RelyingParty;
  readonly key: Buffer;
  readonly purpose: string;
}

/**
 * Returns the challenge of what a browser sent, which is still to be spent. Throws `passkey_refused` for another purpose,
 * one that is too old, and another origin: an environment's page may ask for our passkeys too, since its host is below ours.
 */
export function readChallenge(clientDataJson: string, { relyingParty, key, purpose }: Expected): string {
  const { challenge, origin, crossOrigin } = readJson(clientDataJson);
  if (typeof challenge !== "string" || !isChallenge(key, purpose, challenge)) refusePasskey("late");
  if (origin !== relyingParty.origin || crossOrigin === true)
    throw new AppError(
      "passkey_refused",
      `This passkey was used at another address. Open ${relyingParty.origin} itself.`,
    );
  return challenge;
}

function readJson(base64url: string): Readonly<Record<string, unknown>> {
  try {
    const read: unknown = JSON.parse(Buffer.from(base64url, "base64url").toString());
    return typeof read === "object" && read !== null ? { ...read } : {};
  } catch {
    return {};
  }
}

/** The key of a new passkey. Throws `passkey_refused`. */
export async function verifyNewPasskey(
  given: NewPasskey,
  relyingParty: RelyingParty,
  challenge: string,
): Promise<PasskeyKey> {
  const { verifyRegistrationResponse } = await import("@simplewebauthn/server");
  const attestationObject = await withoutAttestation(given.response.attestationObject);
  const verified = await verifyRegistrationResponse({
    response: {
      ...{ id: given.id, rawId: given.rawId, type: given.type, clientExtensionResults: {} },
      response: { clientDataJSON: given.response.clientDataJSON, attestationObject },
    },
    ...expectedOf(relyingParty, challenge),
  }).catch(() => undefined);
  if (!verified?.verified) refusePasskey("unreadable");
  const { credential, userVerified, credentialBackedUp } = verified.registrationInfo;
  if (!userVerified) refusePasskey("unverified");
  return {
    credentialId: credential.id,
    publicKey: Buffer.from(credential.publicKey),
    signCount: credential.counter,
    isBackedUp: credentialBackedUp,
  };
}

/** What a device says of its maker is dropped unread: we ask for nothing, and its certificates would be looked up in the network. */
async function withoutAttestation(attestationObject: string): Promise<string> {
  const { isoBase64URL, isoCBOR } = await import("@simplewebauthn/server/helpers");
  try {
    const read = isoCBOR.decodeFirst<Map<string, Uint8Array<ArrayBuffer>>>(isoBase64URL.toBuffer(attestationObject));
    const authData = read.get("authData");
    if (!(authData instanceof Uint8Array)) refusePasskey("unreadable");
    const bare = new Map<string, string | Map<string, string> | Uint8Array<ArrayBuffer>>([
      ["fmt", "none"],
      ["attStmt", new Map()],
      ["authData", authData],
    ]);
    return isoBase64URL.fromBuffer(isoCBOR.encode(bare));
  } catch {
    return refusePasskey("unreadable");
  }
}

/**
 * The new count of a passkey that has signed `challenge`. Without a `publicKey` the same is done with a key that nobody has, so
 * that nothing tells whether a passkey is known. Throws `passkey_refused`.
 */
export async function verifyUsedPasskey(
  given: UsedPasskey,
  relyingParty: RelyingParty,
  challenge: string,
  publicKey: Buffer | undefined,
): Promise<Pick<PasskeyKey, "signCount" | "isBackedUp">> {
  const { verifyAuthenticationResponse } = await import("@simplewebauthn/server");
  const { clientDataJSON, authenticatorData, signature, userHandle } = given.response;
  const verified = await verifyAuthenticationResponse({
    response: {
      ...{ id: given.id, rawId: given.rawId, type: given.type, clientExtensionResults: {} },
      response: { clientDataJSON, authenticatorData, signature, ...(userHandle && { userHandle }) },
    },
    // The count is compared where its row is locked.
    credential: { id: given.id, publicKey: new Uint8Array(publicKey ?? nobodysKey()), counter: 0 },
    ...expectedOf(relyingParty, challenge),
  }).catch(() => undefined);
  if (!verified?.verified) refusePasskey("unknown");
  const { userVerified, newCounter, credentialBackedUp } = verified.authenticationInfo;
  if (!userVerified) refusePasskey("unverified");
  return { signCount: newCounter, isBackedUp: credentialBackedUp };
}

function expectedOf({ id, origin }: RelyingParty, challenge: string) {
  // Whether the device checked its owner is refused by a sentence of its own.
  return { expectedChallenge: challenge, expectedOrigin: origin, expectedRPID: id, requireUserVerification: false };
}

let decoy: Buffer | undefined;

/** A public key on the curve P-256 as COSE writes it. */
function nobodysKey(): Buffer {
  if (decoy) return decoy;
  const { x = "", y = "" } = generateKeyPairSync("ec", { namedCurve: "P-256" }).publicKey.export({ format: "jwk" });
  const [head, middle] = [Buffer.from("a5010203262001215820", "hex"), Buffer.from("225820", "hex")];
  decoy = Buffer.concat([head, Buffer.from(x, "base64url"), middle, Buffer.from(y, "base64url")]);
  return decoy;
}
