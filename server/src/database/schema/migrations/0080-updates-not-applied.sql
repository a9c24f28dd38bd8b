-- A signed update that is acknowledged and not applied has an event, so that its sender need not read `updated` of each answer.
create function announce_not_applied(tenant integer, quote bigint, about jsonb) returns void
  language plpgsql set enable_seqscan = off
  as $$
  -- In the database because book_shipment calls it within the transaction of the update.
  declare
    of_quote public.quotes;
  begin
    if not public.has_subscriber(tenant, 'lane.update_not_applied') then
      return;
    end if;
    select * into of_quote from public.quotes where tenant_id = tenant and lane_id = quote;
    perform public.announce(tenant, 'lane.update_not_applied', of_quote, about);
  end $$;
revoke all on function announce_not_applied(integer, bigint, jsonb) from public;
grant execute on function announce_not_applied(integer, bigint, jsonb) to lanewise_service;

create or replace function book_shipment(tenant integer, digest bytea, ref text, booking jsonb) returns json
  language plpgsql set enable_seqscan = off
  as $$
  -- In the database because it must be atomic across connections (two equal requests at once are booked once), in one round
  -- trip: it makes six statements.
  declare
    quote constant bigint := booking ->> 'lane_id';
    expected_version constant text := booking ->> 'seen';
    new_values constant jsonb := booking -> 'held';
    is_expected_version boolean;
    offer jsonb;
    changed_quotes bigint[] := array[quote];
    versions jsonb;
  begin
    -- Equal requests wait for each other. The lock is on the digest, because the first of them has no row to lock. If the
    -- first one changed the quote, the others find another version of the row.
    perform pg_advisory_xact_lock(tenant, (get_byte(digest, 0) << 24) | (get_byte(digest, 1) << 16)
      | (get_byte(digest, 2) << 8) | get_byte(digest, 3));
    if booking ? 'offers' then
      -- The other offers for the load, which the decision read, too. Locked in the order in which every writer locks them.
      perform from public.quotes
      where tenant_id = tenant and (lane_id = quote
        or lane_id in (select (sent ->> 'lane_id')::bigint from jsonb_array_elements(booking -> 'offers') as sent))
      order by lane_id for update;
      select count(*) = jsonb_array_length(booking -> 'offers') into is_expected_version
      from jsonb_array_elements(booking -> 'offers') as sent
      join public.quotes as known on known.tenant_id = tenant and known.lane_id = (sent ->> 'lane_id')::bigint
        and known.xmin = (sent ->> 'seen')::xid;
      if not is_expected_version then
        return public.find_booking(tenant, digest, ref);
      end if;
    end if;
    if new_values is null then
      perform from public.quotes
      where tenant_id = tenant and lane_id = quote and xmin = expected_version::xid
      for update;
      is_expected_version := found;
    else
      is_expected_version :=
        (public.change_quote(tenant, quote, expected_version, new_values, booking -> 'change')).lane_id is not null;
    end if;
    if not is_expected_version then
      return public.find_booking(tenant, digest, ref);
    end if;
    insert into public.shipment_updates (tenant_id, request_digest, lane_id, signed_at, received_at, token_id, carried,
      applied, updated)
    values (tenant, digest, quote, (booking ->> 'signed_at')::timestamptz, (booking ->> 'received_at')::timestamptz,
      (booking ->> 'token_id')::integer, booking -> 'carried', booking -> 'applied', (booking ->> 'updated')::boolean)
    on conflict do nothing;
    if not found then
      if new_values is null then
        return public.find_booking(tenant, digest, ref);
      end if;
      -- The first of two equal requests did not change the quote, so this one found the expected version and changed it.
      -- Their decisions differ because they were made at different times.
      raise exception 'The same request was answered meanwhile.' using errcode = 'serialization_failure';
    end if;
    if booking ? 'not_applied' then
      perform public.announce_not_applied(tenant, quote, booking -> 'not_applied');
    end if;
    for offer in select sent from jsonb_array_elements(booking -> 'offers') as sent where sent ? 'held' loop
      perform public.change_quote(tenant, (offer ->> 'lane_id')::bigint, null, offer -> 'held', offer -> 'change');
      changed_quotes := changed_quotes || (offer ->> 'lane_id')::bigint;
    end loop;
    if booking ? 'change' then
      -- An update that changes only signed times makes no new version of the quote.
      versions := public.advance_versions(tenant, 1, 0, changed_quotes);
    end if;
    return json_build_object('booked', true, 'versions', versions);
  end $$;
