-- How the rows of an import ended: a check shows them, and warns when no quote was lost, because win chances cannot be learned
-- from wins alone.
alter table imports
  add column rows_won integer not null default 0,
  add column rows_lost integer not null default 0,
  add column rows_pending integer not null default 0;
