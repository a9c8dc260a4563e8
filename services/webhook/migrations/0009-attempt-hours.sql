-- Attempts by receiver and hour (UTC), tests excluded: the bars, and quantiles of the duration. Written in the statement that records
-- the attempts. Adding up a million attempts of one day takes seconds; these are a few dozen rows an hour.
create table webhook.attempt_hours (
  receiver_id text collate "C" not null,
  hour timestamptz(0) not null,
  -- Of the duration, see services/webhook/src/domain/duration-bucket.ts. -1 for an attempt without a duration.
  bucket smallint not null,
  accepted integer not null,
  failed integer not null,
  primary key (receiver_id, hour, bucket)
) with (fillfactor = 70);
