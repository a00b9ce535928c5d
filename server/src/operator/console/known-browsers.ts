import { hkdfSync } from "node:crypto";
import { jwtVerify, SignJWT } from "jose";
import { newId } from "../../database/new-id.ts";

/** A browser in which an operator has signed in. */
export interface KnownBrowser {
  readonly id: string;
  readonly operatorId: string;
}

const audience = "operator browser";
const algorithm = "HS256";
/** Days that a browser is known after a sign-in. */
export const knownDays = 90;

/**
 * A cookie that proves a former sign-in, and opens nothing by itself: its browser is counted alone, and tries when others have
 * used up an account's (G91). A network proves nothing, because on loopback everybody has the operator's.
 */
export function knownBrowsers(secret: Buffer) {
  const key = Buffer.from(hkdfSync("sha256", secret, "", "operator browser v1", 32));
  return {
    /** The cookie's value after a sign-in; a browser keeps its id. */
    async prove({ id, operatorId }: { readonly id: string | undefined; readonly operatorId: string }): Promise<string> {
      const token = new SignJWT().setProtectedHeader({ alg: algorithm }).setAudience(audience).setSubject(operatorId);
      return await token
        .setJti(id ?? newId())
        .setExpirationTime(`${knownDays}d`)
        .sign(key);
    },
    async read(token: string): Promise<KnownBrowser | undefined> {
      return await jwtVerify(token, key, { audience, algorithms: [algorithm] }).then(
        ({ payload: { jti: id = "", sub: operatorId = "" } }) => ({ id, operatorId }),
        () => undefined,
      );
    },
  };
}

export type KnownBrowsers = ReturnType<typeof knownBrowsers>;
