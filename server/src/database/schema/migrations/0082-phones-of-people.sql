-- The phone number of a person, for the text that they send to customers. An instance of the version before does not read it.
alter table users add column phone text;
