-- The work queue: `due_at` says when a row is next worked at, a lease says which worker holds it and until when. Leases of
-- the version before end here: no process of it can write a result any more, and its rows are due when they would have been.

alter table mails rename column next_try_at to due_at;
alter table mails drop column claim;
alter table mails add column lease_token uuid, add column lease_expires_at timestamptz,
  add constraint mails_lease check ((lease_token is null) = (lease_expires_at is null));
drop index mails_due;
create index mails_due on mails (greatest(due_at, lease_expires_at)) where status = 'queued';

alter table embedded_gateway_webhooks rename column next_try_at to due_at;
alter table embedded_gateway_webhooks add column lease_token uuid, add column lease_expires_at timestamptz,
  add constraint embedded_gateway_webhooks_lease check ((lease_token is null) = (lease_expires_at is null));
drop index embedded_gateway_webhooks_due;
create index embedded_gateway_webhooks_due on embedded_gateway_webhooks (greatest(due_at, lease_expires_at));

-- One row for each account: no index.
alter table gateway_sweeps rename column next_at to due_at;
alter table gateway_sweeps add column lease_token uuid, add column lease_expires_at timestamptz,
  add constraint gateway_sweeps_lease check ((lease_token is null) = (lease_expires_at is null));

alter table gateway_events rename column next_check_at to due_at;
alter table gateway_events drop column claim;
alter table gateway_events add column lease_token uuid, add column lease_expires_at timestamptz,
  add constraint gateway_events_lease check (num_nulls(lease_token, lease_expires_at) in (0, 2) and (lease_token is null or due_at is not null));
drop index gateway_events_due;
create index gateway_events_due on gateway_events (greatest(due_at, lease_expires_at)) where processed_at is null;

alter table refunds rename column next_check_at to due_at;
alter table refunds drop column claim;
alter table refunds add column lease_token uuid, add column lease_expires_at timestamptz,
  add constraint refunds_lease check (num_nulls(lease_token, lease_expires_at) in (0, 2) and (lease_token is null or due_at is not null));
drop index refunds_due;
create index refunds_due on refunds (greatest(due_at, lease_expires_at)) where status not in ('processed', 'waived');

alter table orders rename column next_check_at to due_at;
alter table orders drop column claim;
alter table orders add column lease_token uuid, add column lease_expires_at timestamptz,
  add constraint orders_lease check (num_nulls(lease_token, lease_expires_at) in (0, 2) and (lease_token is null or due_at is not null));
drop index orders_deliver;
drop index orders_watch;
create index orders_paid_due on orders (greatest(due_at, lease_expires_at)) where status = 'paid';
create index orders_unpaid_due on orders (greatest(due_at, lease_expires_at)) where status <> 'paid';

alter table warm_runs drop column claim;
alter table warm_runs add column lease_token uuid, add column lease_expires_at timestamptz,
  add constraint warm_runs_lease check ((lease_token is null) = (lease_expires_at is null));
drop index warm_runs_due;
create index warm_runs_due on warm_runs (greatest(due_at, lease_expires_at));

alter table environments drop column claim;
alter table environments add column lease_token uuid, add column lease_expires_at timestamptz,
  add constraint environments_lease check ((lease_token is null) = (lease_expires_at is null));
drop index environments_due;
create index environments_due on environments (greatest(due_at, lease_expires_at)) where status <> 'terminated';
