-- Pages by creator and by order number: see page-statements.ts, and docs/decisions/0025-filters.md for the costs.
create index submissions_of_creator on records.submissions (brand_id, creator_id, status, created_at nulls first, id);
create index payouts_of_creator on records.payouts (brand_id, creator_id, status, created_at nulls first, id);
create index links_of_creator on records.links (brand_id, creator_id, status, created_at nulls first, id);
create index conversions_of_external_id on records.conversions (brand_id, external_id, created_at nulls first, id);
