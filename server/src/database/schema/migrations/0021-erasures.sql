-- How often a brokerage was erased here. An instance that asked nothing meanwhile would never hear of it, for the row that
-- says what has changed of a tenant is gone as well: where this number is another, it forgets all that it remembers.
alter table installation add column erasures integer not null default 0;
