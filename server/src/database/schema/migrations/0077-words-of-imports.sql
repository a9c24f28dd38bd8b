-- The words of a file's columns that are not known, or whose meanings the map states, with their counts; the errors by cause; and the
-- refused rows with their reasons as a CSV file, with the number of its rows.
alter table imports
  add column words jsonb not null default '[]',
  add column causes jsonb not null default '[]',
  add column refused_rows text not null default '',
  add column refused_rows_saved integer not null default 0;
