-- Names that nobody but their last owner gets for a year after the end of their last environment (G301). Without a user, because
-- the account was deleted: nobody gets it.

create table former_names (
  name text primary key,
  user_id text,
  reserved_until timestamptz not null
);
create index former_names_user on former_names (user_id);

insert into former_names (name, user_id, reserved_until)
select distinct on (e.subdomain) e.subdomain,
  case when not exists (select from deleted_accounts d where d.user_id = e.user_id) then e.user_id end,
  e.terminated_at + interval '365 days'
from environments e
where e.created_at is not null and e.terminated_at > now() - interval '365 days'
order by e.subdomain, e.terminated_at desc;
