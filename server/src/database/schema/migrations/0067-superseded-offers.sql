-- Sets which offer of each load counts, for the loads that were quoted more than once before 0066. The rule is that of
-- engine/src/offers.ts, at the time of this migration. Each change is in the history of its offer; no event is sent for it.
do $$
  declare
    holder integer;
    offer record;
    changed_lanes bigint[];
    at timestamptz;
  begin
    -- One brokerage at a time, because row-level security applies to the owner, too.
    for holder in select distinct tenant_id from lanes where quote_count > 1 loop
      perform enter_tenant(holder::text, 0, 0, 0);
      changed_lanes := '{}';
      at := clock_timestamp();
      for offer in
        with offers as (
          select lane_id, lane_ref, request_id, lane_number, quote_count, outcome, quoted_rate_cents, counter_rate_cents,
            quoted_basis, quoted_currency,
            outcome = 'won' and coalesce(customer_rate_cents, truck_cost_cents) is not null as is_booked
          from lanes
          where tenant_id = holder and voided_at is null
            and (request_id, lane_number) in (
              select request_id, lane_number from lanes where tenant_id = holder and quote_count > 1
            )
        ),
        counting as (
          select distinct on (request_id, lane_number) * from offers
          order by request_id, lane_number, is_booked desc, (outcome = 'won') desc, quote_count desc
        )
        select offers.lane_id, counting.lane_ref as counting_ref,
          case when offers.outcome <> 'won' and (offers.outcome = 'lost' or offers.counter_rate_cents is not null
            or (counting.quote_count > offers.quote_count and counting.quoted_rate_cents < offers.quoted_rate_cents
              and counting.quoted_basis is not distinct from offers.quoted_basis
              and coalesce(counting.quoted_currency, 'USD') = coalesce(offers.quoted_currency, 'USD')))
            then 'refused' else 'replaced' end as said
        from offers join counting using (request_id, lane_number)
        where offers.lane_id <> counting.lane_id
      loop
        perform change_lane(holder, offer.lane_id, null,
          jsonb_build_object('superseded_by', offer.counting_ref, 'superseded_as', offer.said),
          jsonb_build_object('source', 'lanewise', 'changed_at', at, 'rule', 'another_offer_counts',
            'before', jsonb_build_object('superseded_by', null, 'superseded_as', null),
            'after', jsonb_build_object('superseded_by', offer.counting_ref, 'superseded_as', offer.said), 'events', '[]'::jsonb));
        changed_lanes := changed_lanes || offer.lane_id;
      end loop;
      if cardinality(changed_lanes) > 0 then
        perform advance_versions(holder, 1, 0, changed_lanes);
      end if;
    end loop;
  end $$;
