-- Whose time a start is, and whether the machine or its owner keeps it from answering (G105, G106).
alter table environments add column fault_since timestamptz;   -- since when the machine keeps it from running; null: it does not
alter table environments add column clock_from timestamptz;    -- of a later start that has not answered: its time is free until then
alter table environments add column free_on date;              -- the day (UTC) that free_seconds is counted on
alter table environments add column free_seconds double precision not null default 0;
alter table environments add column without_settings boolean not null default false;
alter table environments add column stop_reason text check (stop_reason in ('idle', 'silent', 'no_home'));
update environments set stop_reason = 'idle' where idle_stopped;
alter table environments drop column idle_stopped;
alter table environments drop constraint environments_ended_reason_check;
alter table environments add check (ended_reason in ('expired', 'terminated', 'cancelled', 'not_delivered', 'silent', 'hardware', 'operator'));
-- What is down or starting now began under the promise that this is the machine's fault; its next look says what it is.
update environments set fault_since = coalesce(down_since, now())
  where status <> 'terminated' and (down_since is not null or created_at is null);

-- Credits are GPU-hours of the order that was not delivered, and one is open for each account (G107).
alter table time_credits rename column hours to gpu_hours;
update time_credits c set gpu_hours = gpu_hours * o.gpu_count from orders o where o.id = c.order_id;
with open as (
  select id, sum(gpu_hours) over (partition by user_id) as total, row_number() over (partition by user_id order by granted_at, id) as n
  from time_credits where used_by_order is null),
merged as (delete from time_credits c using open where c.id = open.id and open.n > 1)
update time_credits c set gpu_hours = open.total from open where c.id = open.id and open.n = 1;
create unique index one_open_credit on time_credits (user_id) where used_by_order is null;

-- A launch that stayed silent is paid back by itself once for each account; then a person decides (G106).
alter table refunds drop constraint refunds_reason_check;
alter table refunds add constraint refunds_reason_check check (reason in
  ('not_delivered', 'silent', 'cancelled', 'late_payment', 'surplus_payment', 'wrong_amount', 'hardware', 'discretionary', 'external'));
alter table refund_requests drop constraint refund_requests_reason_check;
alter table refund_requests add constraint refund_requests_reason_check check (reason in
  ('partial_downtime', 'accidental_termination', 'maintenance', 'other', 'silent'));
