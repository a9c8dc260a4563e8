-- works-with-schema: 4
-- Owners have got mail of a pause: of its end they get some, too, and of its going on none.

alter table webhook.lanes add column pause_noted boolean not null default false;
