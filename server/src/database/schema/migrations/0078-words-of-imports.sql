-- The words of a file's columns that are not known, or whose meanings the map states, with their counts.
alter table imports add column words jsonb not null default '[]';
