-- Spot and contract quotes are separate pools (docs/decisions/0071-customers-and-rate-types.md). The type of a quote that does not say its
-- own, and the pool of the numbers that the integration interface defines. The version before ignores both columns.
alter table tenants
  add column default_rate_type text not null default 'spot' check (default_rate_type in ('spot', 'contract')),
  add column integration_pool text not null default 'all' check (integration_pool in ('all', 'spot', 'contract'));
