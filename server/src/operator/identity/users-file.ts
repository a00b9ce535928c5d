import { isEmail, maxNameLength } from "@berth/contract";
import * as z from "zod";
import { AppError } from "../../app-error.ts";
import { emailKey } from "../../identity/email-key.ts";
import { hostedIdPattern } from "../../identity/firebase/firebase-project.ts";
import { type FirebaseHashing, firebaseHashText } from "../../identity/local/firebase-scrypt.ts";

/** An account as `identity_user` has it. */
export interface ImportedUser {
  readonly id: string;
  readonly email: string;
  readonly email_key: string;
  readonly password_hash: string | null;
  readonly name: string | null;
  readonly email_verified: boolean;
  readonly disabled: boolean;
  readonly created_at: Date;
}

/** Of Firebase's file, what is read; the rest is its own. */
const usersShape = z.object({
  users: z.array(
    z.object({
      localId: z.string().regex(hostedIdPattern),
      email: z.string().max(254).optional(),
      emailVerified: z.boolean().default(false),
      displayName: z.string().optional(),
      passwordHash: z.base64().or(z.base64url()).optional(),
      salt: z.base64().or(z.base64url()).optional(),
      disabled: z.boolean().default(false),
      createdAt: z
        .string()
        .regex(/^\d{1,14}$/)
        .optional(),
    }),
  ),
});

/** Reads what `firebase auth:export FILE --format=json` writes. Without `hashing` passwords are left out. Throws AppError. */
export function readUsersFile(text: string, hashing: FirebaseHashing | undefined): ImportedUser[] {
  const parsed = usersShape.safeParse(parsedJson(text));
  if (!parsed.success) {
    const where = parsed.error.issues[0]?.path.join(".") || "the file";
    throw new AppError("invalid_request", `This is no users.json of Firebase: ${where} has another form`);
  }
  return parsed.data.users.map(({ localId, email = "", displayName, passwordHash, salt, createdAt, ...user }) => ({
    id: localId,
    email: email.trim(),
    email_key: isEmail(emailKey(email)) ? emailKey(email) : "",
    password_hash: hashing && passwordHash && salt ? firebaseHashText({ ...hashing, salt, hash: passwordHash }) : null,
    name: displayName?.replaceAll("\u0000", "").trim().slice(0, maxNameLength) || null,
    email_verified: user.emailVerified,
    disabled: user.disabled,
    created_at: createdAt === undefined ? new Date() : new Date(Number(createdAt)),
  }));
}

/** Reads the parameters as the Firebase console shows them under Users, Password hash parameters. Throws AppError. */
export function readHashing(text: string): FirebaseHashing {
  const of = (name: string) => new RegExp(`\\b${name}:\\s*([\\w+/=-]+)`).exec(text)?.[1] ?? "";
  const hashing = {
    signerKey: of("base64_signer_key"),
    saltSeparator: of("base64_salt_separator"),
    rounds: Number(of("rounds")),
    memoryCost: Number(of("mem_cost")),
  };
  const within = (value: number, max: number) => Number.isInteger(value) && value >= 1 && value <= max;
  if (!hashing.signerKey || !hashing.saltSeparator || !within(hashing.rounds, 16) || !within(hashing.memoryCost, 16))
    throw new AppError(
      "invalid_request",
      "These are no password hash parameters: base64_signer_key, base64_salt_separator, rounds and mem_cost, as the Firebase console shows them",
    );
  return hashing;
}

/** What `firebase auth:import FILE` reads. Passwords are not in it: Firebase knows no argon2id (G322). */
export function usersFile(users: readonly Omit<ImportedUser, "email_key" | "password_hash">[]): string {
  const rows = users.map((user) => ({
    localId: user.id,
    email: user.email,
    emailVerified: user.email_verified,
    ...(user.name && { displayName: user.name }),
    disabled: user.disabled,
    createdAt: String(user.created_at.getTime()),
  }));
  return `${JSON.stringify({ users: rows }, null, 2)}\n`;
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
