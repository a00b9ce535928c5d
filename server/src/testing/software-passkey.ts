import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import type { NewPasskey, PasskeyCreationOptions, PasskeyRequestOptions, UsedPasskey } from "@berth/contract";
import { isoCBOR } from "@simplewebauthn/server/helpers";

/** What an authenticator or a browser does otherwise than it should. */
export interface Deviation {
  readonly origin?: string;
  readonly rpId?: string;
  readonly crossOrigin?: boolean;
  /** Whether the device checks its owner. */
  readonly verifies?: boolean;
  readonly count?: number;
  readonly type?: string;
  readonly challenge?: string;
}

const hashOf = (data: string | Buffer) => createHash("sha256").update(data).digest();

/** An authenticator of one passkey with a key on P-256, and the browser in front of it. `counts`: it counts its signatures. */
export function softwarePasskey({ counts = true } = {}) {
  const id = randomBytes(32);
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  let handle = "";
  let count = 0;

  function authenticatorData(rpId: string, deviation: Deviation, credential?: Buffer): Buffer {
    const flags = 0x01 | (deviation.verifies === false ? 0 : 0x04) | (credential ? 0x40 : 0);
    const counter = Buffer.alloc(4);
    count += counts ? 1 : 0;
    counter.writeUInt32BE(deviation.count ?? count);
    return Buffer.concat([
      hashOf(deviation.rpId ?? rpId),
      Buffer.from([flags]),
      counter,
      credential ?? Buffer.alloc(0),
    ]);
  }

  return {
    id: id.toString("base64url"),

    create({ rp, user, challenge }: PasskeyCreationOptions, deviation: Deviation = {}): NewPasskey {
      handle = user.id;
      return {
        ...ids(id),
        response: {
          clientDataJSON: clientData("webauthn.create", challenge, deviation),
          attestationObject: attestationObject(authenticatorData(rp.id, deviation, attested(id, publicKey))),
        },
      };
    },

    use({ rpId, challenge }: PasskeyRequestOptions, deviation: Deviation = {}): UsedPasskey {
      const clientDataJSON = clientData("webauthn.get", challenge, deviation);
      const data = authenticatorData(rpId, deviation);
      const signed = Buffer.concat([data, hashOf(Buffer.from(clientDataJSON, "base64url"))]);
      return {
        ...ids(id),
        response: {
          clientDataJSON,
          authenticatorData: data.toString("base64url"),
          signature: sign("sha256", signed, privateKey).toString("base64url"),
          userHandle: handle,
        },
      };
    },
  };
}

/** The credential's id and its public key, as COSE writes it. */
function attested(id: Buffer, publicKey: KeyObject): Buffer {
  const { x = "", y = "" } = publicKey.export({ format: "jwk" });
  const key = new Map<number, number | Uint8Array<ArrayBuffer>>();
  key.set(1, 2).set(3, -7).set(-1, 1);
  key.set(-2, new Uint8Array(Buffer.from(x, "base64url"))).set(-3, new Uint8Array(Buffer.from(y, "base64url")));
  return Buffer.concat([Buffer.alloc(16), Buffer.from([0, id.length]), id, isoCBOR.encode(key)]);
}

function attestationObject(data: Buffer): string {
  const object = new Map<string, string | Map<string, string> | Uint8Array<ArrayBuffer>>();
  object.set("fmt", "none").set("attStmt", new Map()).set("authData", new Uint8Array(data));
  return Buffer.from(isoCBOR.encode(object)).toString("base64url");
}

const ids = (id: Buffer) => ({
  ...{ id: id.toString("base64url"), rawId: id.toString("base64url") },
  type: "public-key" as const,
});

/** As the browser at `origin` writes it: a device cannot change it. */
function clientData(type: string, challenge: string, deviation: Deviation): string {
  const { origin = "http://localhost:3000", crossOrigin = false } = deviation;
  const text = JSON.stringify({
    ...{ type: deviation.type ?? type, challenge: deviation.challenge ?? challenge, origin, crossOrigin },
  });
  return Buffer.from(text).toString("base64url");
}
