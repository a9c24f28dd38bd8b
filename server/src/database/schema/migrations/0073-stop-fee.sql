-- The fee for each stop of a load, by which the desk prices loads with stops (docs/decisions/0126-direct-truckloads.md). Its admin sets it.
alter table tenants
  add column stop_fee_cents integer not null default 7500 check (stop_fee_cents >= 0),
  add column stop_fee_currency text not null default 'USD' check (stop_fee_currency in ('USD', 'CAD'));
