-- The groups of a person at their last sign-in that had a meaning then, so that a meaning that is removed acts at once. Null for sign-ins
-- before this migration.
alter table company_identities add column groups jsonb;
