-- Bids: the lanes that a shipper asks for contract rates on, its file, and who changed which cell. The version before knows none of it.

create table bids (
  tenant_id integer not null references tenants,
  bid_id integer not null,
  name text not null,
  customer_name text not null,
  stage text not null check (stage in ('open', 'submitted', 'awarded', 'lost', 'withdrawn')),
  due_at timestamptz,
  contract_months integer not null check (contract_months between 1 and 60),
  -- The shipper's file as it was sent, unpacked: the answer is this file with the rates filled in.
  file_name text not null,
  file bytea not null,
  sheet text,
  -- The column of each field, from 0, and what it counts.
  columns jsonb not null,
  -- The SHA-256 of the header: the columns that a person chose are offered again for the next file with the same header.
  header_digest text not null,
  lanes integer not null,
  lines_skipped integer not null,
  -- The number of the last change, from 0. A preview names it, so that nobody applies it to other rates.
  last_change integer not null default 0,
  -- While lanes wait for their prices: the last sign of life of the process that prices them.
  pricing_at timestamptz,
  created_by integer,
  created_at timestamptz not null,
  changed_at timestamptz not null,
  primary key (tenant_id, bid_id),
  foreign key (tenant_id, created_by) references users
);
create index bids_header on bids (tenant_id, header_digest, bid_id desc);
create index bids_pricing on bids (pricing_at) where pricing_at is not null;
alter table bids enable row level security;
alter table bids force row level security;
-- With the condition of teams (0012-customers.sql).
create policy tenant_isolation on bids
  using (
    tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer
    and is_seen(customer_key(customer_name))
  )
  with check (
    tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer
    and is_seen(customer_key(customer_name))
  );
-- For unpriced_bids.
create policy unpriced_bids_for_owner on bids for select to current_user using (true);
grant select, insert, update, delete on bids to lanewise_service;

-- Read through their bid only, which has the condition of teams.
create table bid_lanes (
  tenant_id integer not null,
  bid_id integer not null,
  lane_number integer not null,
  -- The row of the sheet, or the line of the text, from 1.
  row_number integer not null,
  lane_key text,
  origin_sent text not null,
  destination_sent text not null,
  -- The places as quotes have them. Null until a person says what a text means that is no known place.
  origin text,
  destination text,
  -- Null: any.
  equipment_code text,
  loads integer,
  target_cents integer,
  miles double precision,
  -- What of the row could not be read, in words.
  problems jsonb not null,
  -- The first lane with the same places and equipment.
  duplicate_of integer,
  -- What the appraisal said. Null until it is priced.
  priced jsonb,
  rate_cents integer,
  -- Raised by each change of a cell.
  version integer not null default 0,
  primary key (tenant_id, bid_id, lane_number),
  foreign key (tenant_id, bid_id) references bids on delete cascade
);
create index bid_lanes_unpriced on bid_lanes (tenant_id, bid_id, lane_number) where priced is null and origin is not null and destination is not null;
alter table bid_lanes enable row level security;
alter table bid_lanes force row level security;
create policy tenant_isolation on bid_lanes
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer);
grant select, insert, update, delete on bid_lanes to lanewise_service;

-- A change of cells: by hand, by a strategy, or the undo of one.
create table bid_changes (
  tenant_id integer not null,
  bid_id integer not null,
  change_number integer not null,
  kind text not null check (kind in ('rates', 'strategy', 'place', 'undo')),
  -- What was done, in words.
  words text not null,
  -- The lane, the value before and the value after of each cell.
  cells jsonb not null,
  undone_by integer,
  changed_by integer,
  changed_at timestamptz not null,
  primary key (tenant_id, bid_id, change_number),
  foreign key (tenant_id, bid_id) references bids on delete cascade,
  foreign key (tenant_id, changed_by) references users
);
alter table bid_changes enable row level security;
alter table bid_changes force row level security;
create policy tenant_isolation on bid_changes
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer);
grant select, insert, update, delete on bid_changes to lanewise_service;

-- The bids, of all tenants, whose lanes wait for prices and whose process gave no sign of life since `silent_since`.
create function unpriced_bids(silent_since timestamptz) returns table (tenant_id integer, bid_id integer)
  language plpgsql stable security definer set search_path = pg_catalog, public
  as $$
  -- In the database because it is a query across all tenants: security definer, so that it passes tenant isolation and
  -- returns nothing but two numbers per bid.
  begin
    return query select numbers[1], numbers[2] from public.across_tenants(format(
      $query$
        select array[b.tenant_id, b.bid_id] from {bids} as b
        where b.pricing_at < %L::timestamptz
        order by b.pricing_at limit 1000
      $query$, silent_since)) as one (numbers);
  end $$;
revoke all on function unpriced_bids(timestamptz) from public;
grant execute on function unpriced_bids(timestamptz) to lanewise_service;
