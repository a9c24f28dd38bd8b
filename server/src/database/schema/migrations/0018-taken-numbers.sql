-- A brokerage that moves here from another installation keeps the numbers of its lanes and requests: partners hold them.
-- Here they are the numbers of other places of the two sequences, which must then never be given again, to anybody: each
-- place that came taken is written down, and passed over. Only the owner adds to it, as part of an import.
create table taken_numbers (
  sequence text not null check (sequence in ('lane_number', 'request_number')),
  number bigint not null,
  primary key (sequence, number)
);
grant select on taken_numbers to lanewise_service;

-- The next so many numbers of one of the two sequences that nobody has taken.
create function next_numbers(of_sequence text, how_many integer) returns setof bigint
  language plpgsql volatile
  as $$
  declare
    missing integer := how_many;
    got integer;
  begin
    while missing > 0 loop
      return query
      with drawn as materialized (
        select nextval(('public.' || of_sequence)::regclass) as place from generate_series(1, missing)
      )
      select drawn.place from drawn
      where not exists (
        select from public.taken_numbers as taken where taken.sequence = of_sequence and taken.number = drawn.place
      );
      get diagnostics got = row_count;
      missing := missing - got;
    end loop;
  end $$;
revoke all on function next_numbers(text, integer) from public;
grant execute on function next_numbers(text, integer) to lanewise_service;
