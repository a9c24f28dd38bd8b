-- How an import read its file, in sentences: the order of days and months, the currency, lines that were left out.
alter table imports add column understood jsonb not null default '[]';
