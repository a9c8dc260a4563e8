-- Tests signed with the next secret alone. Activating the next secret waits for one that the receiver accepts.
alter table webhook.receivers
  add column next_secret_at timestamptz(3),
  -- When the receiver accepted a test signed with this next secret alone, at this URL.
  add column next_secret_accepted_at timestamptz(3),
  add check (next_secret_accepted_at is null or next_secret is not null);

-- Rotations in progress: the next secret is at least as old as the last change.
update webhook.receivers set next_secret_at = updated_at where next_secret is not null;

-- A trigger, because processes of 0.2.0 replace and activate next secrets too, and do not know these columns.
create function webhook.date_next_secret() returns trigger language plpgsql as $$
begin
  if new.next_secret is distinct from old.next_secret then
    new.next_secret_at := case when new.next_secret is not null then clock_timestamp() end;
  end if;
  new.next_secret_accepted_at := null;
  return new;
end $$;

create trigger date_next_secret before update of next_secret, url on webhook.receivers
  for each row when (new.next_secret is distinct from old.next_secret or new.url is distinct from old.url)
  execute function webhook.date_next_secret();

-- A test to be signed with the next secret alone. A process of 0.2.0 signs it like any other and records no acceptance.
alter table webhook.deliveries add column sign_with_next boolean not null default false;
alter table webhook.past_deliveries add column sign_with_next boolean not null default false;
