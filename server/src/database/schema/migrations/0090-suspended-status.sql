-- A person can be suspended: refused everywhere until an admin restores them. The version before refuses everybody who is not active,
-- so it refuses a suspended person, too.

alter table users drop constraint users_status_check;
alter table users add constraint users_status_check
  check (status in ('active', 'invited', 'suspended', 'removed')) not valid;
alter table users validate constraint users_status_check;
