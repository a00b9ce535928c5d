-- A look at the audit leaves its result sealed with the installation's secret, which is not in the database (G312). Null: by a
-- former version, or by a program without the secret.
alter table audit_checks add column seal bytea check (length(seal) = 32);
-- The newest act that was sent out of the database, daily.
alter table audit_checks add column sent_id bigint;
alter table audit_checks add column sent_at timestamptz;
