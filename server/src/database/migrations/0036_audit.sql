-- What operators did (G118). Each row's hash covers the hash of the row before it, so that a changed or missing row is found.

create table audit (
  id bigint primary key check (id > 0),               -- 1, 2, 3 ... without gaps
  at timestamptz not null check (at = date_trunc('milliseconds', at)),
  actor text not null check (actor <> ''),
  act text not null check (act <> ''),
  subject_kind text not null,
  subject_id text not null,
  reason text not null,
  details jsonb not null check (jsonb_typeof(details) = 'object'),
  hash bytea not null check (length(hash) = 32)
);
create index audit_subject on audit (subject_id, id desc);

create function refuse_rewrite() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only', tg_table_name;
end $$;
create trigger audit_append_only before update or delete or truncate on audit
  for each statement execute function refuse_rewrite();
