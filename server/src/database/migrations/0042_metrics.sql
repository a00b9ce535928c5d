-- Metrics count the ledger's entries as they are written: by their time, never by reading all of them.

create index journal_newest on journal (at);
