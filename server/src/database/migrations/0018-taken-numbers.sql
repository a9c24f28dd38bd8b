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
    place bigint;
  begin
    for nth in 1 .. how_many loop
      loop
        place := nextval(('public.' || of_sequence)::regclass);
        exit when not exists (select from public.taken_numbers where sequence = of_sequence and number = place);
      end loop;
      return next place;
    end loop;
  end $$;
revoke all on function next_numbers(text, integer) from public;
grant execute on function next_numbers(text, integer) to lanewise_service;
