-- lanes_booked_or_cancelled replaced it.
drop index if exists lanes_booked;
