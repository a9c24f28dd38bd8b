-- The list of shipments has cancelled lanes too. The index that this one replaces goes in a migration of its own (see 0023).
create index lanes_booked_or_cancelled on lanes (tenant_id, created_at desc, lane_id desc)
  where customer_rate_cents is not null or truck_cost_cents is not null or carrier_name is not null
     or carrier_notes is not null or booked_at is not null or cancelled_at is not null;

-- The newest signed times of each booking field, as lists: of the value that the field holds, then of each other sender. In
-- epoch seconds: [{"sender": 3, "signed": 1772373720, "effective": 1772373600}]. `sender` is a service token, or null for a
-- rollback; `signed` is by the sender's clock; `effective` is the earlier of it and the database's time at arrival.
-- Row-level security applies to the owner of the table too, so the rows are converted tenant by tenant.
do $$
declare
  tenant integer;
begin
  for tenant in select distinct tenant_id from sign_in_emails loop
    perform enter_tenant(tenant::text, 0, 0, 0);
    update lanes set signed_at = (
      select jsonb_object_agg(key, jsonb_build_array(
        jsonb_build_object('sender', null, 'signed', value, 'effective', value)
      )) from jsonb_each(signed_at)
    )
    where tenant_id = tenant and signed_at <> '{}';
  end loop;
  perform set_config('app.tenant_id', '', true);
end $$;
