-- Others may read the copy during a walk. A power cut may take the last pages, not the copy: the walk goes on before them.
pragma journal_mode = wal; pragma synchronous = normal; begin immediate;
-- Every record, as a list returned it. `listed_in` is the last walk that listed it, and `listed_at` when, by the service's clock.
create table if not exists records (
  resource text not null, id text not null, created_at text not null, updated_at text not null, record text not null,
  listed_in integer not null, listed_at text not null, primary key (resource, id));
-- The one brand whose records these are.
create table if not exists brand (only_row integer primary key check (only_row = 1), id text not null);
-- One row a walk, and the lists that the unfinished walk still has to read, each from its cursor (null: from the start).
create table if not exists walks (id integer primary key, started_at text not null, finished_at text);
create table if not exists to_read (resource text primary key, cursor text);
-- Events since the last walk ended. `received_at` is by this machine's clock.
create table if not exists waiting_events (
  resource text not null, id text not null, updated_at text not null, event text not null, received_at text not null,
  primary key (resource, id, updated_at));
-- Records that the last finished walk or the one after it listed.
create view if not exists listed as
  select * from records where listed_in >= ifnull((select max(id) from walks where finished_at is not null), 0);
-- Records that were listed before, but not by the last finished walk. The platform deletes none: ask the operator about them.
create view if not exists vanished as select * from records where listed_in < (select max(id) from walks where finished_at is not null);
