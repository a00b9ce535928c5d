import type { Generated } from "kysely";

interface ProfilesTable {
  user_id: string;
  email: string;
  name: Generated<string>;
  phone: Generated<string>;
  created_at: Generated<Date>;
}

interface NotificationsTable {
  id: string;
  user_id: string;
  cause: string;
  title: string;
  body: string;
  link: string | null;
  created_at: Generated<Date>;
  read_at: Date | null;
}

export interface MailsTable {
  id: string;
  cause: string;
  user_id: string;
  recipient: string;
  subject: string;
  body_text: string;
  body_html: string;
  status: Generated<"queued" | "sent" | "refused" | "lapsed">;
  created_at: Generated<Date>;
  useful_until: Date;
  ended_at: Date | null;
  next_try_at: Generated<Date>;
  claim: string | null;
  attempts: Generated<number>;
  last_error: string | null;
}

interface SupportTicketsTable {
  id: string;
  user_id: string;
  code: string;
  issue_type: string;
  description: string;
  email: string;
  created_at: Generated<Date>;
}

interface UserFlagsTable {
  user_id: string;
  email_notifications: Generated<boolean>;
  billing_alerts: Generated<boolean>;
  security_alerts: Generated<boolean>;
  marketing_emails: Generated<boolean>;
  two_factor_auth: Generated<boolean>;
}

interface ArchiveCodesTable {
  hash: Buffer;
  user_id: string;
  environment_id: string;
  expires_at: Date;
}

interface DeletedAccountsTable {
  user_id: string;
  deleted_at: Generated<Date>;
}

export interface AccountTables {
  profiles: ProfilesTable;
  notifications: NotificationsTable;
  mails: MailsTable;
  support_tickets: SupportTicketsTable;
  user_flags: UserFlagsTable;
  archive_codes: ArchiveCodesTable;
  deleted_accounts: DeletedAccountsTable;
}
