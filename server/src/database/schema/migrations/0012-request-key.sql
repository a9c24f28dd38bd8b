-- Whoever saves a quote request and hears nothing back sends it again. A key of the sender's own lets the second arrival
-- find what the first one made.
alter table quote_requests add column request_key uuid;
create unique index quote_requests_by_key on quote_requests (tenant_id, request_key) where request_key is not null;
