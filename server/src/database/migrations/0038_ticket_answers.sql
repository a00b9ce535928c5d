-- Answers of operators to support tickets. They go out by bell and mail; a ticket with one is answered.

create table ticket_answers (
  id text primary key,
  ticket_id text not null references support_tickets on delete cascade,
  user_id text not null,
  text text not null check (text <> ''),
  answered_at timestamptz not null default now()
);
create index ticket_answers_ticket on ticket_answers (ticket_id, answered_at);
create trigger ticket_answers_alive before insert on ticket_answers for each row execute function skip_deleted();
