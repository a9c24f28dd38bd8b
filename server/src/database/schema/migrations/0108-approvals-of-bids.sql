-- The requests for approval of rates of a bid are found by the bid.
create index approvals_of_bids on approvals (tenant_id, ((asked ->> 'bidId')::integer)) where asked ->> 'kind' = 'bid';
