-- An operator who imports a file names the brokerage it is for. The tables are walled even against their owner, so that
-- a mistake in a migration cannot mix tenants; this opens the names of the brokerages, and nothing else, to the owner.
-- The service works as another role, for which the wall stays as it is.
create policy tenants_named_for_owner on tenants for select to current_user using (true);
