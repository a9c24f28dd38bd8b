-- Quotes: the requests of customers, and their lanes.

-- The key of a customer's name: names that are equal without regard to case and white space have the same key, and quotes with
-- the same key are of the same customer. The rule is that of customerKey (engine/src/customer-name.ts).
create function customer_key(name text) returns text
  language sql immutable parallel safe
  as $$
  -- In the database because the key is a generated column: no code that writes a name can forget it. Most names need no
  -- regular expression, which would take four times as long.
  select case
    when name ~ '^\s|\s\s|\s$|[\u0009-\u000d\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]'
    then btrim(regexp_replace(lower(name), '[\u0009-\u000d \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]+', ' ', 'g'))
    else lower(name) end $$;
revoke all on function customer_key(text) from public;
grant execute on function customer_key(text) to lanewise_service;

-- A quote request: what a customer asked to have quoted, with one or more lanes.
create table quote_requests (
  tenant_id integer not null references tenants,
  request_id bigint not null,
  customer_name text not null,
  reference text,
  created_by integer,
  created_at timestamptz not null,
  import_id integer,
  -- An idempotency key of the sender: a request that is sent again gets the answer of the first one. The digest is of the
  -- body, and another body under the same key is refused.
  request_key uuid,
  request_digest bytea check (length(request_digest) = 32),
  primary key (tenant_id, request_id),
  foreign key (tenant_id, import_id) references imports
);
create unique index quote_requests_by_key on quote_requests (tenant_id, request_key) where request_key is not null;
alter table quote_requests enable row level security;
alter table quote_requests force row level security;
create policy tenant_isolation on quote_requests
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer);
-- Undoing an import deletes the requests and lanes that it created.
grant select, insert, update, delete on quote_requests to lanewise_service;

-- A lane: the quote, its outcome, and its booking. Amounts are whole cents, times are timestamptz.
-- fillfactor: an update that changes no indexed column writes no index entry (HOT) if its page has room for the new row.
create table lanes (
  tenant_id integer not null,
  lane_id bigint not null,
  lane_ref text not null,
  request_id bigint not null,
  lane_number integer not null check (lane_number >= 1),
  quote_count integer not null check (quote_count >= 1),
  -- Places as they were sent, then normalized for matching.
  origin text not null,
  destination text not null,
  origin_key text not null,
  destination_key text not null,
  origin_state text not null,
  destination_state text not null,
  origin_market text,
  destination_market text,
  equipment text not null,
  equipment_code text not null,
  quoted_customer_name text not null,
  quoted_rate_cents integer not null check (quoted_rate_cents between 0 and 999999999),
  estimated_cost_cents integer check (estimated_cost_cents between 0 and 999999999),
  market_rate_cents integer check (market_rate_cents between 0 and 999999999),
  miles double precision check (miles > 0 and miles <= 10000),
  pickup_date date,
  outcome text not null default 'pending' check (outcome in ('won', 'lost', 'pending', 'expired')),
  outcome_reason text check (outcome_reason in ('price', 'service', 'capacity', 'no_response', 'other')),
  outcome_source text check (outcome_source in ('dashboard', 'tms', 'import', 'lanewise')),
  decided_at timestamptz,
  -- The booking. engine/src/booking-fields.ts lists these columns.
  customer_rate_cents integer check (customer_rate_cents between 0 and 999999999),
  truck_cost_cents integer check (truck_cost_cents between 0 and 999999999),
  truck_cost_source text check (truck_cost_source in ('dashboard', 'tms', 'import')),
  customer_name text,
  carrier_name text,
  carrier_notes text,
  booked_at timestamptz,
  -- What the amounts include; null if it was not said: then the default basis of the tenant is assumed. Charges are a part of an
  -- all-in amount, and besides a linehaul amount. Those of the quote are of quoted_rate_cents and estimated_cost_cents.
  customer_basis text check (customer_basis in ('linehaul', 'all_in')),
  customer_fuel_cents integer check (customer_fuel_cents between 0 and 999999999),
  customer_accessorials_cents integer check (customer_accessorials_cents between 0 and 999999999),
  truck_basis text check (truck_basis in ('linehaul', 'all_in')),
  truck_fuel_cents integer check (truck_fuel_cents between 0 and 999999999),
  truck_accessorials_cents integer check (truck_accessorials_cents between 0 and 999999999),
  quoted_basis text check (quoted_basis in ('linehaul', 'all_in')),
  quoted_fuel_cents integer check (quoted_fuel_cents between 0 and 999999999),
  quoted_accessorials_cents integer check (quoted_accessorials_cents between 0 and 999999999),
  -- Null means US dollars. That of the quote is also of market_rate_cents.
  customer_currency text check (customer_currency in ('USD', 'CAD')),
  truck_currency text check (truck_currency in ('USD', 'CAD')),
  quoted_currency text check (quoted_currency in ('USD', 'CAD')),
  -- The accessorial charges by name, as engine/src/named-charges.ts writes them: 'detention 75.00; lumper 120.00'.
  customer_charges text,
  truck_charges text,
  quoted_charges text,
  -- The newest signed times of each booking field: first of the value that the field holds, then of every other sender.
  -- Example: {"truckCostCents": [{"sender": 3, "signed": 1772373720, "effective": 1772373600}]}. `sender` is a service
  -- token, or null for a rollback. `signed` is by the sender's clock, `effective` is the earlier of `signed` and the
  -- database's time on arrival, both in epoch seconds. An older update is not applied.
  signed_at jsonb not null default '{}',
  created_by integer,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  import_id integer,
  -- A digest of the row of a file that created this lane: importing the row again creates no second lane.
  import_fingerprint bytea,
  -- The truck cost that was expected when the lane was quoted, and its range.
  expected_cost_cents integer check (expected_cost_cents between 0 and 999999999),
  expected_cost_low_cents integer check (expected_cost_low_cents between 0 and 999999999),
  expected_cost_high_cents integer check (expected_cost_high_cents between 0 and 999999999),
  -- The default basis of the brokerage when the cost was computed, which its amounts are on.
  expected_basis text check (expected_basis in ('linehaul', 'all_in')),
  -- The text that the search compares. Comparing six columns took 0.33 s for 100,000 lanes, this column takes a fifth of
  -- that. (A trigram index would not be used: PostgreSQL evaluates row-level security first.) A search word contains no
  -- line break, so no match spans two columns.
  search_text text not null generated always as (
    lower(
      lane_ref || E'\n' || origin || E'\n' || destination || E'\n' || quoted_customer_name
        || E'\n' || coalesce(customer_name, '') || E'\n' || coalesce(carrier_name, '')
        || E'\n' || coalesce(external_id, '')
    )
  ) stored,
  -- The customer: of the booking if it names one, else of the quote.
  customer_key text not null generated always as (customer_key(coalesce(customer_name, quoted_customer_name))) stored,
  cancelled_at timestamptz,
  cancel_reason text,
  -- {"outcome", "reason", "source", "decided_at"} from before the booking that won the lane: a cancellation restores it.
  outcome_before_booking jsonb,
  -- A digest of the last row of a file that was imported for this lane: the same row again changes nothing.
  import_said text,
  -- A quote that another system pushed: its id there, the rep as that system names them, until when the quote is valid,
  -- and the newest signed times of each pushed field, in the form of signed_at.
  external_id text,
  rep_name text,
  rate_type text check (rate_type in ('spot', 'contract')),
  valid_until timestamptz,
  quote_signed_at jsonb not null default '{}',
  -- A person voided the quote because it was a mistake: no statistic counts it.
  voided_at timestamptz,
  void_reason text,
  -- The advice that the desk showed when the quote was saved: {"win_probability", "low", "high", "going_rate", "best_rate",
  -- "trust"}, amounts in dollars.
  advice jsonb,
  -- The lower rate that the customer named instead of this quote, in the quote's currency and on its basis.
  counter_rate_cents integer check (counter_rate_cents > 0),
  primary key (tenant_id, lane_id),
  unique (tenant_id, lane_ref),
  foreign key (tenant_id, request_id) references quote_requests,
  foreign key (tenant_id, import_id) references imports,
  check ((outcome = 'pending') = (decided_at is null)),
  check ((voided_at is null) = (void_reason is null))
) with (fillfactor = 90);
-- An update of a column that an index contains, also in its condition, writes an entry in every index that has the row: an
-- amount (lanes_booked_or_cancelled, lanes_at_a_loss), an outcome (lanes_undecided), and the time of the update
-- (lanes_at_a_loss). So every update of a lane writes about seven entries.
-- The record of a lane, its places in performance, and lists of a pair of places.
create index lanes_by_corridor on lanes (tenant_id, origin_key, destination_key, equipment_code, created_at, lane_id);
-- Lists and exports, newest first, and the places of the newest quotes.
create index lanes_by_age on lanes (tenant_id, created_at desc, lane_id desc);
-- The list of shipments.
create index lanes_booked_or_cancelled on lanes (tenant_id, created_at desc, lane_id desc)
  where customer_rate_cents is not null or truck_cost_cents is not null or carrier_name is not null
     or carrier_notes is not null or booked_at is not null or cancelled_at is not null;
-- The notice of bookings at a loss, newest first. Few lanes are in it.
create index lanes_at_a_loss on lanes (tenant_id, updated_at desc, lane_id desc)
  where truck_cost_cents > customer_rate_cents;
-- The lanes of a pair of places with an amount on the basis that is not the default of the tenant.
create index lanes_with_linehaul on lanes (tenant_id, origin_key, destination_key)
  where quoted_basis = 'linehaul' or customer_basis = 'linehaul' or truck_basis = 'linehaul';
create index lanes_with_all_in on lanes (tenant_id, origin_key, destination_key)
  where quoted_basis = 'all_in' or customer_basis = 'all_in' or truck_basis = 'all_in';
-- The lanes of a pair of places with an amount in Canadian dollars.
create index lanes_with_cad on lanes (tenant_id, origin_key, destination_key)
  where quoted_currency = 'CAD' or customer_currency = 'CAD' or truck_currency = 'CAD';
-- The quotes that can expire.
create index lanes_undecided on lanes (tenant_id, valid_until, created_at) where outcome = 'pending' and voided_at is null;
-- The lanes of a request, and its foreign key.
create index lanes_by_request on lanes (tenant_id, request_id);
-- A pushed quote by its id in the other system.
create unique index lanes_by_external_id on lanes (tenant_id, external_id) where external_id is not null;
-- A row of a file is imported once. Partial: most lanes were not imported, and each would have an entry.
create unique index lanes_by_import_fingerprint on lanes (tenant_id, import_fingerprint) where import_fingerprint is not null;
-- Undoing an import in batches by lane_id, and its foreign key.
create index lanes_by_import on lanes (tenant_id, import_id, lane_id) where import_id is not null;
alter table lanes enable row level security;
alter table lanes force row level security;
create policy tenant_isolation on lanes
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer);
-- For tenants_with_ended_quotes.
create policy ended_quotes_for_owner on lanes for select to current_user using (true);
grant select, insert, update, delete on lanes to lanewise_service;

-- The tenants with a pending quote whose validity has ended.
create function tenants_with_ended_quotes() returns setof integer
  language plpgsql stable security definer set search_path = pg_catalog, public set enable_seqscan = off
  as $$
  -- In the database because it is a query across all tenants: security definer, so that it passes tenant isolation and
  -- returns nothing but the numbers of tenants. It reads one entry of lanes_undecided for each tenant.
  begin
    return query select numbers[1] from public.across_tenants(format(
      $query$
        select array[one.tenant_id] from {tenants} as one
        where exists (
          select from {lanes} as lane
          where lane.tenant_id = one.tenant_id and outcome = 'pending' and voided_at is null
            and valid_until <= %1$L::timestamptz
            and outcome_source is distinct from 'dashboard' and customer_rate_cents is null and truck_cost_cents is null
        ) or exists (
          select from {lanes} as lane
          where lane.tenant_id = one.tenant_id and outcome = 'pending' and voided_at is null and valid_until is null
            and created_at <= %1$L::timestamptz - make_interval(days => one.quote_valid_days)
            and outcome_source is distinct from 'dashboard' and customer_rate_cents is null and truck_cost_cents is null
        )
      $query$, clock_timestamp())) as one (numbers);
  end $$;
revoke all on function tenants_with_ended_quotes() from public;
grant execute on function tenants_with_ended_quotes() to lanewise_service;

-- An amount on the basis `wanted`: all-in = linehaul + fuel + accessorials. Null if it cannot be converted, or if the result is
-- above the largest amount. The rule is that of convertedCents (engine/src/rate-basis.ts).
create function on_basis(cents integer, basis text, fuel integer, accessorials integer, wanted text) returns integer
  language sql immutable parallel safe
  as $$
  -- In the database because statistics are computed where the rows are.
  -- Each amount is named once: PostgreSQL does not inline a function that names an argument twice if the argument is an
  -- expression, and calling it takes four times as long (152 instead of 36 ms of CPU for 12,000 quotes, most of them converted).
  -- A converted amount is from 1 to 999999999; an amount that is on the basis is returned as it is. The sum of three amounts
  -- can be larger than an integer.
  select nullif(nullif(least(greatest(
    cents::bigint + case when basis is null or basis = wanted then 0
      else (case wanted when 'all_in' then 1 else -1 end) * (fuel::bigint + coalesce(accessorials, 0)) end,
    case when basis is null or basis = wanted then -1 else 0 end),
    case when basis is null or basis = wanted then 2147483647 else 1000000000 end),
    case when basis is null or basis = wanted then -1 else 0 end),
    case when basis is null or basis = wanted then 2147483647 else 1000000000 end)::integer $$;
revoke all on function on_basis(integer, text, integer, integer, text) from public;
grant execute on function on_basis(integer, text, integer, integer, text) to lanewise_service;

-- The surcharge for the miles of a load, in cents. The rule is that of fuelOfMiles (engine/src/fuel-surcharge.ts).
create function fuel_cents(mills_per_mile double precision, miles double precision) returns integer
  language sql immutable parallel safe
  as $$
  -- In the database because statistics are computed where the rows are.
  select floor(mills_per_mile * miles / 10 + 0.5)::integer $$;
revoke all on function fuel_cents(double precision, double precision) from public;
grant execute on function fuel_cents(double precision, double precision) to lanewise_service;

-- An amount in US dollars: one in Canadian dollars by the exchange rate, null if the rate is not known.
create function usd_cents(cents integer, currency text, usd_per_cad double precision) returns integer
  language sql immutable parallel safe
  as $$
  -- In the database because statistics are computed where the rows are.
  select case when currency is null or currency = 'USD' then cents else floor(cents * usd_per_cad + 0.5)::integer end $$;
revoke all on function usd_cents(integer, text, double precision) from public;
grant execute on function usd_cents(integer, text, double precision) to lanewise_service;

-- The lanes that statistics count: without voided quotes, with each expired quote as the setting of the tenant says, and with
-- amounts in US dollars and on the default basis of the tenant. A lane with an amount that cannot be converted is left out. An
-- amount that says neither is in US dollars on the default basis. A fuel charge that is not known is the surcharge of the day
-- of the quote (UTC): for rates by the schedule of the customer, else of the brokerage; for costs by that of the brokerage.
-- Canadian dollars are converted by the exchange rate of that day.
create view counted_lanes with (security_invoker = true) as
select
  tenant_id, lane_id, lane_ref, request_id, lane_number, quote_count, origin, destination, origin_key,
  destination_key, origin_state, destination_state, origin_market, destination_market, equipment, equipment_code,
  quoted_customer_name,
  case when quoted_basis is null and quoted_currency is null then quoted_rate_cents
    else on_basis(usd_cents(quoted_rate_cents, quoted_currency, usd_per_cad), quoted_basis,
      coalesce(usd_cents(quoted_fuel_cents, quoted_currency, usd_per_cad), rate_fuel),
      usd_cents(quoted_accessorials_cents, quoted_currency, usd_per_cad), wanted)
    end as quoted_rate_cents,
  case when quoted_basis is null and quoted_currency is null then estimated_cost_cents
    else on_basis(usd_cents(estimated_cost_cents, quoted_currency, usd_per_cad), quoted_basis,
      coalesce(usd_cents(quoted_fuel_cents, quoted_currency, usd_per_cad), rate_fuel),
      usd_cents(quoted_accessorials_cents, quoted_currency, usd_per_cad), wanted)
    end as estimated_cost_cents,
  usd_cents(market_rate_cents, quoted_currency, usd_per_cad) as market_rate_cents,
  miles, pickup_date,
  case when outcome <> 'expired' then outcome
    when expired_counts_as_lost then 'lost'
    else 'pending' end as outcome,
  outcome_reason, outcome_source, decided_at,
  case when customer_basis is null and customer_currency is null then customer_rate_cents
    else on_basis(usd_cents(customer_rate_cents, customer_currency, usd_per_cad), customer_basis,
      coalesce(usd_cents(customer_fuel_cents, customer_currency, usd_per_cad), rate_fuel),
      usd_cents(customer_accessorials_cents, customer_currency, usd_per_cad), wanted)
    end as customer_rate_cents,
  case when truck_basis is null and truck_currency is null then truck_cost_cents
    else on_basis(usd_cents(truck_cost_cents, truck_currency, usd_per_cad), truck_basis,
      coalesce(usd_cents(truck_fuel_cents, truck_currency, usd_per_cad), cost_fuel),
      usd_cents(truck_accessorials_cents, truck_currency, usd_per_cad), wanted)
    end as truck_cost_cents,
  truck_cost_source,
  customer_name, carrier_name, carrier_notes, booked_at,
  customer_basis, customer_fuel_cents, customer_accessorials_cents, truck_basis, truck_fuel_cents, truck_accessorials_cents,
  quoted_basis, quoted_fuel_cents, quoted_accessorials_cents, customer_currency, truck_currency, quoted_currency,
  customer_charges, truck_charges, quoted_charges,
  signed_at, created_by, created_at, updated_at, import_id,
  import_fingerprint,
  -- An expected cost beside a rate that says no basis moves with the default basis, as that rate does.
  case when quoted_basis is null or expected_basis is null or expected_basis = wanted then expected_cost_cents
    else on_basis(expected_cost_cents, expected_basis,
      coalesce(usd_cents(quoted_fuel_cents, quoted_currency, usd_per_cad), cost_fuel),
      usd_cents(quoted_accessorials_cents, quoted_currency, usd_per_cad), wanted)
    end as expected_cost_cents,
  expected_cost_low_cents, expected_cost_high_cents, expected_basis, search_text,
  customer_key, cancelled_at, cancel_reason, outcome_before_booking, import_said, external_id, rep_name, rate_type, valid_until,
  quote_signed_at, voided_at, void_reason, advice, counter_rate_cents,
  -- How amounts on the other basis or in the other currency were converted.
  case when cad_day is not null then 'exchange' when fuel_day is not null then 'schedule'
    when quoted_basis <> wanted or customer_basis <> wanted or truck_basis <> wanted then 'charges' end as converted_by
from (
  select lanes.*, usd_per_cad,
    fuel_cents(coalesce(of_customer.mills_per_mile, of_brokerage.mills_per_mile), miles) as rate_fuel,
    fuel_cents(of_brokerage.mills_per_mile, miles) as cost_fuel
  -- Joins: for a subquery, Citus would ask every worker instead of the tenant's.
  from (
    select lanes.*, expired_counts_as_lost, wanted,
      -- Null if no fuel charge or exchange rate is wanted: then no row is looked up.
      case when (quoted_basis <> wanted and quoted_fuel_cents is null)
        or (customer_basis <> wanted and customer_fuel_cents is null and customer_rate_cents is not null)
        or (truck_basis <> wanted and truck_fuel_cents is null and truck_cost_cents is not null)
        then (created_at at time zone 'UTC')::date end as fuel_day,
      case when quoted_currency = 'CAD' or (customer_currency = 'CAD' and customer_rate_cents is not null)
        or (truck_currency = 'CAD' and truck_cost_cents is not null)
        then (created_at at time zone 'UTC')::date end as cad_day
    from lanes join (
      select tenant_id as owner_id, expired_counts_as_lost, default_basis as wanted from tenants
    ) as owners on owner_id = tenant_id
  ) as lanes
  left join fuel_days as of_brokerage
    on of_brokerage.tenant_id = lanes.tenant_id and of_brokerage.day = fuel_day and of_brokerage.customer_key = ''
  left join fuel_days as of_customer
    on of_customer.tenant_id = lanes.tenant_id and of_customer.day = fuel_day
      and of_customer.customer_key = case when fuel_day is null then null
        when customer_name is null then lanes.customer_key else customer_key(quoted_customer_name) end
      and of_customer.customer_key <> ''
  left join exchange_days as exchange on exchange.tenant_id = lanes.tenant_id and exchange.day = cad_day
) as lanes
where voided_at is null and (
  coalesce(quoted_basis, customer_basis, truck_basis, quoted_currency, customer_currency, truck_currency) is null or (
  on_basis(usd_cents(quoted_rate_cents, quoted_currency, usd_per_cad), quoted_basis,
      coalesce(usd_cents(quoted_fuel_cents, quoted_currency, usd_per_cad), rate_fuel),
      usd_cents(quoted_accessorials_cents, quoted_currency, usd_per_cad), wanted) is not null
  and (customer_rate_cents is null
    or on_basis(usd_cents(customer_rate_cents, customer_currency, usd_per_cad), customer_basis,
      coalesce(usd_cents(customer_fuel_cents, customer_currency, usd_per_cad), rate_fuel),
      usd_cents(customer_accessorials_cents, customer_currency, usd_per_cad), wanted) is not null)
  and (truck_cost_cents is null
    or on_basis(usd_cents(truck_cost_cents, truck_currency, usd_per_cad), truck_basis,
      coalesce(usd_cents(truck_fuel_cents, truck_currency, usd_per_cad), cost_fuel),
      usd_cents(truck_accessorials_cents, truck_currency, usd_per_cad), wanted) is not null)
));
grant select on counted_lanes to lanewise_service;

-- The version of the facts in which each lane was last inserted, updated or deleted. A process that keeps the quotes of a
-- tenant in memory (server/src/book) reads the lanes with a newer version than its own, and so does an integration that
-- reads back what changed. A deleted lane keeps its row here. Apart from `lanes`, because a version in an index of `lanes`
-- would make every update of a lane write all of its indexes.
create table lane_versions (
  tenant_id integer not null,
  lane_id bigint not null,
  version bigint not null,
  changed_at timestamptz not null,
  primary key (tenant_id, lane_id)
);
-- The lanes that changed after a version, in the order of their changes.
create index lane_versions_by_version on lane_versions (tenant_id, version, lane_id);
alter table lane_versions enable row level security;
alter table lane_versions force row level security;
create policy tenant_isolation on lane_versions
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer);
grant select, insert, update on lane_versions to lanewise_service;

-- Increments a tenant's versions by `facts` and `access` (0 or 1), records the version of the changed lanes, and returns
-- the new versions: the last statement of every transaction that changes something. It locks the tenant's row of
-- tenant_facts until the commit, so versions follow the order of commits without gaps.
create function advance_versions(tenant integer, facts integer, access integer, changed_lanes bigint[]) returns jsonb
  language plpgsql volatile set enable_seqscan = off
  as $$
  -- In the database because the tenant's row stays locked from this function to the commit: in TypeScript the lock would
  -- last for two more round trips. book_shipment also calls it. Without enable_seqscan = off, a plan that was made while
  -- a table was tiny reads the whole table for as long as the connection lives.
  declare
    -- Read before the update: on Citus, a worker would fill in its own transaction.
    this_transaction constant xid8 := pg_current_xact_id();
    new_facts bigint;
    new_access bigint;
    moment timestamptz;
  begin
    update public.tenant_facts as known set
      facts_version = known.facts_version + facts,
      access_version = known.access_version + access,
      logged_version = case when facts = 1 then known.facts_version + 1 else known.logged_version end,
      unlogged_version = case when facts = 1 and known.facts_version <> known.logged_version
        then known.facts_version else known.unlogged_version end,
      changed_in = this_transaction
    where tenant_id = tenant
    returning facts_version, access_version into new_facts, new_access;
    if not found then
      insert into public.tenant_facts as known (tenant_id, facts_version, access_version, logged_version, changed_in)
      values (tenant, facts, access, facts, this_transaction)
      on conflict (tenant_id) do update set
        facts_version = known.facts_version + facts,
        access_version = known.access_version + access,
        logged_version = case when facts = 1 then known.facts_version + 1 else known.logged_version end,
        unlogged_version = case when facts = 1 and known.facts_version <> known.logged_version
          then known.facts_version else known.unlogged_version end,
        changed_in = this_transaction
      returning facts_version, access_version into new_facts, new_access;
    end if;
    if facts = 1 and cardinality(changed_lanes) > 0 then
      -- After the lock, so that times follow the order of versions.
      moment := clock_timestamp();
      -- Citus plans an insert from a query for every shard, and locks them all: then the writes of every tenant would wait
      -- while a shard moves to another worker. So on Citus, the values of many lanes are part of the text.
      if cardinality(changed_lanes) = 1 then
        insert into public.lane_versions as known (tenant_id, lane_id, version, changed_at)
        values (tenant, changed_lanes[1], new_facts, moment)
        on conflict (tenant_id, lane_id) do update set version = excluded.version, changed_at = excluded.changed_at;
      elsif current_setting('citus.propagate_set_commands', true) is null then
        insert into public.lane_versions as known (tenant_id, lane_id, version, changed_at)
        select one.tenant_id, changed.lane, new_facts, moment
        from public.tenants as one cross join (select distinct unnest(changed_lanes) as lane) as changed
        where one.tenant_id = tenant
        on conflict (tenant_id, lane_id) do update set version = excluded.version, changed_at = excluded.changed_at;
      else
        execute format(
          'insert into public.lane_versions as known (tenant_id, lane_id, version, changed_at) values %s
           on conflict (tenant_id, lane_id) do update set version = excluded.version, changed_at = excluded.changed_at',
          (select string_agg(format('(%s, %s, %s, %L)', tenant, lane, new_facts, moment), ', ')
           from (select distinct unnest(changed_lanes) as lane) as changed)
        );
      end if;
    end if;
    return jsonb_build_object('facts', new_facts, 'access', new_access);
  end $$;
revoke all on function advance_versions(integer, integer, integer, bigint[]) from public;
grant execute on function advance_versions(integer, integer, integer, bigint[]) to lanewise_service;

-- Market rates: what truckloads cost on the market, as a brokerage's own sources say. Contracts for such data often forbid
-- pooling, so they are never read across tenants, and all rows of a source can be erased.
create table market_rates (
  tenant_id integer not null references tenants,
  -- What the rate covers: a city pair, a pair of 3-digit ZIP areas, of markets, of states or of regions.
  scope text not null check (scope in ('lane', 'zip3', 'market', 'state_pair', 'region')),
  -- The keys of both areas: the key of a place, a ZIP area, the name of a market, or the code of a state or region.
  origin_area text not null,
  destination_area text not null,
  equipment_code text not null,
  source text not null,
  basis text not null check (basis in ('linehaul', 'all_in')),
  -- What the rate is: what carriers are paid (buy), or what customers pay (sell).
  kind text not null check (kind in ('buy', 'sell')),
  -- ISO 4217. US dollars are compared with quotes, and Canadian dollars on days with an exchange rate.
  currency text not null check (currency in ('USD', 'CAD', 'MXN')),
  as_of timestamptz not null,
  -- Cents of the currency per load.
  low_cents integer check (low_cents between 0 and 999999999),
  mid_cents integer not null check (mid_cents between 0 and 999999999),
  high_cents integer check (high_cents between 0 and 999999999),
  -- The fuel charge per load: a part of an all-in rate, and besides a linehaul rate.
  fuel_cents integer check (fuel_cents between 0 and 999999999),
  -- The loads or reports behind the rate.
  sample integer check (sample >= 0),
  valid_until timestamptz,
  -- Both areas as shown.
  origin text not null,
  destination text not null,
  entered_by text not null check (entered_by in ('push', 'file', 'hand', 'adapter')),
  -- When the source said it: an older delivery does not replace a newer one.
  said_at timestamptz not null,
  primary key (tenant_id, scope, origin_area, destination_area, equipment_code, source, basis, kind, currency, as_of)
);
create index market_rates_by_source on market_rates (tenant_id, source, as_of desc);
alter table market_rates enable row level security;
alter table market_rates force row level security;
create policy tenant_isolation on market_rates
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer);
grant select, insert, update, delete on market_rates to lanewise_service;

-- A brokerage's key for a provider of market rates, and the result of the last call with it.
create table market_keys (
  tenant_id integer not null references tenants,
  -- The number of the adapter: 1 is Greenscreens.
  secret_id integer not null,
  sealed bytea not null,
  set_at timestamptz not null,
  answered_at timestamptz,
  -- The last failure since the last answer: how many in a row, and when the next call may be made.
  failure text,
  failed_at timestamptz,
  failures integer not null default 0,
  retry_at timestamptz,
  primary key (tenant_id, secret_id)
);
alter table market_keys enable row level security;
alter table market_keys force row level security;
create policy tenant_isolation on market_keys
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer);
grant select, insert, update, delete on market_keys to lanewise_service;
