-- The work queue: `due_at` says when a row is next worked at, a lease says which worker holds it and until when. Leases of
-- the version before end here: no process of it can write a result any more, and its rows are due when they would have been.

alter table mails rename column next_try_at to due_at;
alter table mails drop column claim;
alter table mails add column lease_token uuid, add column lease_expires_at timestamptz,
  add constraint mails_lease check ((lease_token is null) = (lease_expires_at is null));
drop index mails_due;
create index mails_due on mails (greatest(due_at, lease_expires_at)) where status = 'queued';
