import { createPrivateKey } from "node:crypto";
import { readFileSync } from "node:fs";
import * as z from "zod";

/** Settings of a hosted identity provider, Firebase Authentication (docs/operate/hosted-sign-in.md). */
export const firebaseSettings = {
  FIREBASE_PROJECT_ID: z
    .string()
    .regex(/^[a-z][a-z0-9-]{3,29}$/, "the id of the project, such as my-project-1a2b3")
    .optional()
    .describe("With IDENTITY=firebase: the project whose accounts sign in")
    .meta({ example: "berth-1a2b3" }),
  FIREBASE_API_KEY: z
    .string()
    .regex(/^[\w-]+$/, "the Web API key of the project")
    .optional()
    .describe("With IDENTITY=firebase: the project's Web API key, which every browser gets")
    .meta({ example: "AIza..." }),
  FIREBASE_SERVICE_ACCOUNT: z
    .string()
    .min(1)
    .optional()
    .describe("With IDENTITY=firebase: the JSON file with the key of a service account of the project")
    .meta({ example: "/etc/berth/firebase.json" }),
  FIREBASE_AUTH_EMULATOR_HOST: z
    .string()
    .regex(/^(127\.0\.0\.1|localhost):\d{1,5}$/, "an emulator of this machine, such as 127.0.0.1:9099")
    .optional()
    .describe("Firebase's emulator instead of the service account, for trying out: its tokens are not signed")
    .meta({ example: "127.0.0.1:9099" }),
};

type FirebaseSettings = z.output<z.ZodObject<typeof firebaseSettings>> & { readonly IDENTITY: "local" | "firebase" };

/** Undefined with an identity provider of our own. Throws ServiceAccountError. */
export function readFirebase(v: FirebaseSettings) {
  const { FIREBASE_PROJECT_ID: projectId, FIREBASE_API_KEY: apiKey, FIREBASE_SERVICE_ACCOUNT: file } = v;
  if (v.IDENTITY !== "firebase" || projectId === undefined || apiKey === undefined) return undefined;
  return {
    ...{ projectId, apiKey },
    /** Undefined with the emulator. */
    serviceAccount: file === undefined ? undefined : readServiceAccount(file, projectId),
    emulator: v.FIREBASE_AUTH_EMULATOR_HOST,
  };
}

export interface ServiceAccount {
  readonly clientEmail: string;
  /** PEM, PKCS #8. */
  readonly privateKey: string;
}

export class ServiceAccountError extends Error {}

const fileShape = z.object({
  project_id: z.string(),
  client_email: z.email(),
  private_key: z.string().refine(isPrivateKey),
});

/** As jose needs it: PKCS #8. */
function isPrivateKey(text: string): boolean {
  try {
    return text.startsWith("-----BEGIN PRIVATE KEY-----") && createPrivateKey(text).asymmetricKeyType === "rsa";
  } catch {
    return false;
  }
}

/** Throws ServiceAccountError with one sentence; the file's text is in none. */
function readServiceAccount(file: string, projectId: string): ServiceAccount {
  const parsed = fileShape.safeParse(contentOf(file));
  if (!parsed.success)
    throw new ServiceAccountError(`${file} is not the JSON key of a service account, as the console gives it`);
  const { project_id: project, client_email: clientEmail, private_key: privateKey } = parsed.data;
  if (project !== projectId)
    throw new ServiceAccountError(
      `${file} is a key of the project ${project}, not of FIREBASE_PROJECT_ID=${projectId}`,
    );
  return { clientEmail, privateKey };
}

function contentOf(file: string): unknown {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (cause) {
    throw new ServiceAccountError(`${file} cannot be read`, { cause });
  }
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
