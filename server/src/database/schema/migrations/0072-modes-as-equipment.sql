-- Gives quotes their mode whose equipment is a mode, such as LTL: from 0068 on, a quote says both. The equipment stays as it is, so that
-- files and pushes find their quotes. The words are those of modeOfWord in engine/src/load-mode.ts that modeAsEquipment refuses, at the
-- time of this migration. Each change is in the history of its quote; no event is sent for it.
do $$
  declare
    holder integer;
    quote record;
    changed_lanes bigint[];
    at timestamptz;
  begin
    -- One brokerage at a time, because row-level security applies to the owner, too.
    for holder in
      select distinct tenant_id from lanes
      where mode is null and translate(lower(equipment_code), '-_', '') in
        ('ltl', 'lessthantruckload', 'volumeltl', 'partial', 'ptl', 'partialtruckload', 'drayage', 'dray')
    loop
      perform enter_tenant(holder::text, 0, 0, 0);
      changed_lanes := '{}';
      at := clock_timestamp();
      for quote in
        select lane_id, case
            when word in ('ltl', 'lessthantruckload', 'volumeltl') then 'ltl'
            when word in ('partial', 'ptl', 'partialtruckload') then 'partial'
            when word in ('drayage', 'dray') then 'drayage' end as said
        from (select lane_id, mode, translate(lower(equipment_code), '-_', '') as word from lanes where tenant_id = holder) as lanes
        where mode is null
          and word in ('ltl', 'lessthantruckload', 'volumeltl', 'partial', 'ptl', 'partialtruckload', 'drayage', 'dray')
        order by lane_id
      loop
        perform change_lane(holder, quote.lane_id, null, jsonb_build_object('mode', quote.said),
          jsonb_build_object('source', 'lanewise', 'changed_at', at, 'rule', null,
            'before', jsonb_build_object('mode', null), 'after', jsonb_build_object('mode', quote.said), 'events', '[]'::jsonb));
        changed_lanes := changed_lanes || quote.lane_id;
      end loop;
      perform advance_versions(holder, 1, 0, changed_lanes);
    end loop;
  end $$;
