-- works-with-schema: 5
-- Pages of keys begin with those that are not revoked, however many revoked ones there are: 40,000 hid a leaked key that was to be revoked.

create index keys_in_pages on accounts.keys (brand_id, (revoked_at is null) desc, created_at desc, id desc);
drop index accounts.keys_brand_id;
