import type { ColumnType, Generated } from "kysely";

export interface IdentityUserTable {
  id: string;
  email: string;
  email_key: string;
  password_hash: string | null;
  name: string | null;
  email_verified: Generated<boolean>;
  disabled: Generated<boolean>;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
}

interface IdentitySessionTable {
  id: string;
  user_id: string;
  generation: Generated<number>;
  rotated_at: Generated<Date>;
  auth_time: Generated<Date>;
  created_at: Generated<Date>;
  expires_at: Date;
  revoked_at: Date | null;
  revoked_reason: string | null;
  user_agent: string | null;
  ip: string | null;
  sign_in_provider: Generated<"password" | "custom">;
}

interface IdentityCodeTable {
  hash: Buffer;
  user_id: string;
  kind: "PASSWORD_RESET" | "VERIFY_EMAIL" | "SIGN_IN";
  email: string;
  expires_at: Date;
  used_at: Date | null;
  created_at: Generated<Date>;
}

interface IdentityKeyTable {
  kid: string;
  alg: string;
  public_jwk: ColumnType<Record<string, unknown>, string, string>;
  private_sealed: Buffer;
  created_at: Generated<Date>;
  not_after: Date;
}

interface AttemptWindowTable {
  key: Buffer;
  count: number;
  ends_at: Date;
}

export interface IdentityTables {
  identity_user: IdentityUserTable;
  identity_session: IdentitySessionTable;
  identity_code: IdentityCodeTable;
  identity_key: IdentityKeyTable;
  attempt_windows: AttemptWindowTable;
}
