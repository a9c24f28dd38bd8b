-- A sample brokerage is a brokerage of its own: no import is sample data any more.
alter table imports drop column is_sample;
