-- What is done often and for many brokerages at once, in one message and one commit: for each of them behind its own wall,
-- one after the other. A message and a commit cost more than most of what is done in them. All of it works with the rights,
-- and behind the walls, of who asks. Each answers a list: of what was done the answer in a list of one, and null for what
-- was left undone because it failed or would have had to wait for somebody's lock; that is to be asked by itself. So nobody
-- is held up by another one, and nobody's mistake undoes what another one did. No tenant is in a list twice.

-- Opens the wall of the next tenant.
create function next_wall(tenant integer) returns void
  language plpgsql volatile
  as $$
  begin
    perform set_config('app.tenant_id', tenant::text, true), set_config('lock_timeout', '10', true);
  end $$;

create function find_booking_of_each(asked integer[], digests bytea[], refs text[]) returns json
  language plpgsql volatile
  as $$
  declare
    answers json[] := '{}';
  begin
    for nth in 1 .. cardinality(asked) loop
      perform public.next_wall(asked[nth]);
      answers[nth] := json_build_array(public.find_booking(asked[nth], digests[nth], refs[nth]));
    end loop;
    return array_to_json(answers);
  end $$;

create function book_shipment_of_each(asked integer[], digests bytea[], refs text[], bookings jsonb[]) returns json
  language plpgsql volatile
  as $$
  declare
    answers json[] := '{}';
  begin
    for nth in 1 .. cardinality(asked) loop
      perform public.next_wall(asked[nth]);
      begin
        answers[nth] := json_build_array(
          public.book_shipment(asked[nth], digests[nth], refs[nth], bookings[nth])
        );
      exception when others then
        answers[nth] := null;
      end;
    end loop;
    return array_to_json(answers);
  end $$;

-- Writes down calls, and where `kept` is given deletes those before the last so many, and those from before `kept_from`.
-- Numbers are given in the order of time, so what is old comes first. Answers the number of the last.
create function keep_calls(tenant integer, calls jsonb, kept integer, kept_from timestamptz) returns bigint
  language plpgsql volatile
  as $$
  declare
    last constant bigint := public.note_integration_calls(tenant, calls);
    first bigint;
  begin
    if kept is not null then
      select call_id into first from public.integration_calls
      where tenant_id = tenant and called_at >= kept_from
      order by call_id limit 1;
      delete from public.integration_calls
      where tenant_id = tenant and call_id < greatest(coalesce(first, last), last - kept + 1);
    end if;
    return last;
  end $$;

create function keep_calls_of_each(asked integer[], calls jsonb[], kept integer[], kept_from timestamptz[]) returns json
  language plpgsql volatile
  as $$
  declare
    answers json[] := '{}';
  begin
    for nth in 1 .. cardinality(asked) loop
      perform public.next_wall(asked[nth]);
      begin
        answers[nth] := json_build_array(public.keep_calls(asked[nth], calls[nth], kept[nth], kept_from[nth]));
      exception when others then
        answers[nth] := null;
      end;
    end loop;
    return array_to_json(answers);
  end $$;

create function note_token_use_of_each(asked integer[], tokens integer[], used_at timestamptz[], networks text[])
  returns json
  language plpgsql volatile
  as $$
  declare
    answers json[] := '{}';
  begin
    for nth in 1 .. cardinality(asked) loop
      perform public.next_wall(asked[nth]);
      begin
        perform public.note_token_use(asked[nth], tokens[nth], used_at[nth], networks[nth]);
        answers[nth] := '[null]';
      exception when others then
        answers[nth] := null;
      end;
    end loop;
    return array_to_json(answers);
  end $$;

create function note_secret_use_of_each(asked integer[], secrets integer[], used_at timestamptz[]) returns json
  language plpgsql volatile
  as $$
  declare
    answers json[] := '{}';
  begin
    for nth in 1 .. cardinality(asked) loop
      perform public.next_wall(asked[nth]);
      begin
        perform public.note_secret_use(asked[nth], secrets[nth], used_at[nth]);
        answers[nth] := '[null]';
      exception when others then
        answers[nth] := null;
      end;
    end loop;
    return array_to_json(answers);
  end $$;

do $$
declare
  made text;
begin
  foreach made in array array[
    'next_wall(integer)', 'find_booking_of_each(integer[], bytea[], text[])',
    'book_shipment_of_each(integer[], bytea[], text[], jsonb[])',
    'keep_calls(integer, jsonb, integer, timestamptz)',
    'keep_calls_of_each(integer[], jsonb[], integer[], timestamptz[])',
    'note_token_use_of_each(integer[], integer[], timestamptz[], text[])',
    'note_secret_use_of_each(integer[], integer[], timestamptz[])'
  ] loop
    execute format('revoke all on function %s from public', made);
    execute format('grant execute on function %s to lanewise_service', made);
  end loop;
end $$;
