-- Words that the search of the documentation did not find, and how often (G345). Nobody's: without an account or an address.

create table docs_searches (
  words text primary key check (length(words) between 1 and 64),
  count integer not null default 1,
  last_at timestamptz not null default now()
);
