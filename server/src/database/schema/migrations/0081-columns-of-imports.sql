-- A database that ran the first form of 0077-words-of-imports.sql has only the column `words`. In all others, this changes nothing.
alter table imports
  add column if not exists causes jsonb not null default '[]',
  add column if not exists refused_rows text not null default '',
  add column if not exists refused_rows_saved integer not null default 0;
