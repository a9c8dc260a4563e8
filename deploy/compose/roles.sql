-- The database's container runs this when its volume is empty. A role sees only the schema that it creates itself, so a leaked
-- password does not expose the other services' records.
\set ON_ERROR_STOP on
\getenv accounts_password ACCOUNTS_DB_PASSWORD
\getenv plans_password PLANS_DB_PASSWORD
\getenv records_password RECORDS_DB_PASSWORD
\getenv webhook_password WEBHOOK_DB_PASSWORD
\getenv platform_password PLATFORM_DB_PASSWORD

create role accounts login password :'accounts_password';
create role plans login password :'plans_password';
create role records login password :'records_password';
create role webhook login password :'webhook_password';

-- Writes the records as the platform would, once records has created their tables: see platform-role in docker-compose.yml.
create role platform_backend login password :'platform_password';

grant create, temporary on database brand_records to accounts, plans, records, webhook;
