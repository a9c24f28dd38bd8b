-- These functions keep their plans for as long as a connection lives, and every row they ask for is asked for by its key. A plan
-- that was made while a table was tiny read all of it instead: an import of many quotes, or a day of updates, then read more
-- with every row it wrote. Only once the table was analyzed anew, a minute later, was the plan made again.
alter function count_quotes(jsonb) set enable_seqscan = off;
alter function change_lane(integer, bigint, text, jsonb, jsonb) set enable_seqscan = off;
alter function find_booking(integer, bytea, text) set enable_seqscan = off;
alter function book_shipment(integer, bytea, text, jsonb) set enable_seqscan = off;
