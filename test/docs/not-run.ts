import { findCommands } from "./find-commands.js";
import { findManuals } from "./pages.ts";

/** Commands for a cluster: simulated pods take those that need no running process. */
const ON_KUBERNETES = findCommands("docs/kubernetes.md").filter((command) => /^(OLD=\$\()?(kubectl|helm) /.test(command));

/** Programs that the machines of the checks lack, or that need a registry, with the tests that do the same without them. */
const BY_PROGRAM: readonly (readonly [begin: string, reason: string])[] = [
  [
    "docker ",
    "no Docker engine; image.release, make-certificates and relay-image in test/e2e follow what it would run, test/structure its arguments",
  ],
  [".local/airbyte/bin/", "test/clients/loaders.release.test.ts runs the manifest"],
  [".local/dlt/bin/", "test/clients/loaders.release.test.ts runs the pipeline"],
  ["curl -fsS --create-dirs ", "test/e2e/guides.test.ts runs it"],
  ["jq -s ", "needs jq"],
  ["cosign ", "needs a registry and an identity"],
  ["npm publish ", "it would publish"],
  ...[
    'psql "$NEW_',
    'psql "$ADMIN_URL" -Atc',
    'psql "$ADMIN_URL" -v ON_ERROR_STOP=1 -c',
    "pg_dump --schema-only ",
    "pg_dump --format=custom --schema=SERVICE --dbname=",
  ].map((begin) => [begin, "test/faults/own-servers.full.test.ts runs it"] as const),
  ...[
    "for table in conversions ",
    'psql "$ACCOUNTS_DATABASE_URL" ',
    'psql "$DATABASE_URL" -v ON_ERROR_STOP=1 -c "select records.become_cell',
  ].map((begin) => [begin, "test/faults/restore-cell.full.test.ts runs it"] as const),
  ["sed 's/RPC_PORT=7002/", "needs systemd"],
  ["kafka-acls.sh ", "Kafka's jars lack it; test/e2e/access-rules.full.test.ts sets the same rules"],
  ["kafka-configs.sh ", "Kafka's jars lack it; test/faults/drills/topic-drills.ts sets what it shows"],
];

/** Documented commands that commands.release.test.ts does not run, each with the reason. */
export const NOT_RUN: Readonly<Record<string, string>> = {
  // Other checks run these in a fresh clone.
  "npm ci && npm start": "scripts/newcomer.js runs it",
  "npm start": "scripts/newcomer.js runs it, and this test runs the other commands beside it",
  "npm start -- --cells 2": "test/e2e/launch.full.test.ts runs it",
  "brandctl brands create --cell b": "needs a second cell; brandctl/src/commands/cells.test.ts runs it",
  "brandctl brands delete BRAND": "would delete a brand; brandctl/src/commands/cells.test.ts runs it",
  "npm ci": "scripts/newcomer.js runs it, and so does this test before everything else",
  "npm test": ".ci/run runs it",
  "npx jest limits": "npm test runs the same files",
  "scripts/newcomer.js": ".ci/run runs it: it needs a clone",
  "scripts/repeat": "npm test, again and again",
  "npm run check": ".ci/run runs it",
  "OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:4318 OTEL_TRACES_SAMPLER_ARG=1 npm start":
    "test/e2e/traces.full.test.ts runs the processes with these settings",
  "node services/webhook/dist/re-encrypt.js": "needs webhook's settings; services/webhook/src/re-encrypt.test.ts runs it with them",
  'pg_dump --format=custom --schema=SERVICE --file=SERVICE.dump "$DATABASE_URL"': "test/faults/restore.full.test.ts runs it",
  'pg_basebackup --pgdata=base --checkpoint=fast --wal-method=stream --dbname="$ADMIN_URL"': "test/faults/restore.full.test.ts runs it",
  "psql \"$DATABASE_URL\" -v ON_ERROR_STOP=1 -c 'alter schema SERVICE rename to SERVICE_before'":
    "test/faults/restore.full.test.ts runs it",
  'pg_restore --exit-on-error --single-transaction --dbname="$DATABASE_URL" SERVICE.dump': "test/faults/restore.full.test.ts runs it",
  "psql \"$DATABASE_URL\" -v ON_ERROR_STOP=1 -c 'create table accounts.restored_from_backup ()'":
    "test/faults/restore.full.test.ts runs it",
  "node services/accounts/dist/after-restore.js --audit audit.ndjson": "test/faults/restore-rights.full.test.ts runs it",
  "node services/accounts/dist/after-restore.js --without-audit": "test/faults/restore.full.test.ts runs it",
  "node services/webhook/dist/after-restore.js --since 2026-11-23T06:00:00Z": "test/faults/restore.full.test.ts runs it",
  "kill -KILL PID": "it would end a process of the system that this test runs; the drills kill every process",
  "npm run test:full": ".ci/run runs it",
  "npm run test:release": "this test is part of it",
  "npx jest ledger.full": "npm run test:full or test:release runs the same files",
  "npx jest ledger-interrupted": "npm run test:full or test:release runs the same files",
  "npx jest test/faults/drills": "npm run test:release runs the same files",
  "npx jest test/clients/generated test/clients/validating --selectProjects release":
    "npm run test:full or test:release runs the same files",
  "npx jest test/clients/behaviour": "npm run test:full or test:release runs the same files",
  "npx jest test/clients/matrix --selectProjects release": "npm run test:full or test:release runs the same files",
  "npx jest hop-to-console": "npm run test:full or test:release runs the same files",
  "npm run test:rolling -- --runs 10": "test/rolling/rolling.full.test.ts is one run",
  "node services/SERVICE/dist/migrate.js": "test/e2e/start.full.test.ts runs it; a running system's schema is migrated already",
  "deploy/backing-services/ensure.sh": "every test run starts with it",

  // In a folder of its own, as by a stranger, test/e2e/guides.test.ts runs the page's program and these.
  'export WEBHOOK_SECRET="whsec_$(openssl rand -base64 32)"': "test/e2e/guides.test.ts runs it",
  "PORT=8000 node receiver.mjs &": "test/e2e/guides.test.ts runs it",
  'body=\'{"id":"evt_test","type":"payout.paid","test":true,"data":{"id":"po_test"}}\'': "test/e2e/guides.test.ts runs it",
  "now=$(date +%s)": "test/e2e/guides.test.ts runs it",
  'signature=$(printf \'%s.%s\' "$now" "$body" | openssl dgst -sha256 -hmac "$WEBHOOK_SECRET" -r | cut -d \' \' -f 1)':
    "test/e2e/guides.test.ts runs it",
  'curl -i http://127.0.0.1:8000/ -H "X-Service-Event: payout.paid" -H "X-Service-Timestamp: $now" -H "X-Service-Signature: sha256=$signature" -d "$body"':
    "test/e2e/guides.test.ts runs it",

  // The machines of the checks lack these programs.
  "cp .env.example .env": "for docker compose: no Docker engine",
  "pip install brand-records": "not published yet; test/clients/python-wheel.release.test.ts installs the wheel",
  ...Object.fromEntries(
    [
      "cd examples/python",
      "python3 -m venv .venv && . .venv/bin/activate",
      "pip install -r requirements.txt",
      "BRAND_RECORDS_URL=https://records.example BRAND_RECORDS_KEY=brk_live_… python pandas_report.py > paid.csv",
      "BRAND_RECORDS_URL=https://records.example BRAND_RECORDS_KEY_FILE=key python nightly_copy.py",
    ].map((command) => [command, "the reader's own folder; test/clients/python-wheel.release.test.ts runs it"]),
  ),
  "(cd clients/python && SOURCE_DATE_EPOCH=$(git log -1 --format=%ct) python3 tests/environment.py hatchling build --directory /tmp)":
    "test/clients/python-client.full.test.ts builds both archives twice",
  "tar -tzf /tmp/brand_records-1.1.0.tar.gz": "an archive of the next release",
  "uv publish /tmp/brand_records-1.1.0-py3-none-any.whl /tmp/brand_records-1.1.0.tar.gz": "it would publish",
  "sed -i '/^name = \"brand-records\"$/{n;s/1\\.0\\.0/1.1.0/}' clients/python/pyproject.toml clients/python/uv.lock":
    "would make another release of the clean copy",
  "npm install @brand-records/client": "not published yet; test/clients/packed-client.full.test.ts installs the archive",
  "tar -tzf /tmp/brand-records-client-1.1.0.tgz": "an archive of the next release",
  'psql "$ADMIN_URL" -v ON_ERROR_STOP=1 -f services/records/platform-role.sql':
    "psql is not required; npm start runs the file, test/e2e/launch.full.test.ts tests the grants",
  'psql "$ADMIN_URL" -c "create role platform_backend login password \'…\' in role platform"':
    "psql is not required; npm start creates such a login, test/e2e/launch.full.test.ts uses it",
  'psql "$(node -p \'require("./.local/run.json").platform_database_url\')"':
    "psql is not required; test/e2e/launch.full.test.ts connects to this URL",

  // Third-party programs that the reader installs.
  'claude mcp add --transport http brand-records http://127.0.0.1:8080/api/mcp --header "Authorization: Bearer $BRAND_RECORDS_KEY"':
    "Claude Code; test/e2e/launch.full.test.ts connects with the command's URL and header",
  'claude mcp add --transport http brand-records "$BRAND_RECORDS_URL/api/mcp" --header "Authorization: Bearer $BRAND_RECORDS_KEY"':
    "Claude Code",
  'npx mcp-remote "$BRAND_RECORDS_URL/api/mcp" --header "Authorization: Bearer $BRAND_RECORDS_KEY"':
    "a third-party program from the registry",
  "npm install @modelcontextprotocol/client": "in the reader's own folder; test/e2e/docs.test.ts runs the example with it",
  "WEBHOOK_SECRET=whsec_… PORT=8000 node receiver.mjs": "the page's program; test/e2e/webhook-programs.test.ts runs it",
  "node paid.mjs": "the example's file; test/e2e/docs.test.ts runs it",
  "npm install standardwebhooks": "in the reader's own folder; test/e2e/webhook-docs.test.ts runs the example with it",
  "node examples/relay/main.js": "runs until it is stopped; test/e2e/relay.test.ts runs it",
  "npx node examples/relay/trial/chat.js": "runs until Ctrl-C; a stand-in for a chat, without logic",
  "RELAY_SECRET_FILE=.local/relay-secret RELAY_CHAT_KIND=slack RELAY_CHAT_URL=http://127.0.0.1:8791/ RELAY_DATABASE=.local/relay.sqlite npx node examples/relay/main.js":
    "runs until Ctrl-C; test/e2e/relay.test.ts runs main.js",

  "(umask 077; cat > relay-secrets/secret)": "takes what the reader pastes",
  "(umask 077; cat > relay-secrets/chat-url)": "takes what the reader pastes",
  "(umask 077; npx brandctl receivers rotate rcv_… --brand brd_… > relay-secrets/next)": "docs/webhooks.md has the command without files",
  "(umask 077; paste -d, relay-secrets/secret relay-secrets/next > relay-secrets/both && mv relay-secrets/both relay-secrets/secret)":
    "needs the files of the commands before; test/e2e/relay.test.ts rotates so",
  "mv relay-secrets/next relay-secrets/secret": "needs the files of the commands before; test/e2e/relay.test.ts rotates so",

  "npx brandctl brands move brd_… --to b": "needs two servers; brandctl/src/commands/brands-move.full.test.ts runs it",
  "npx brandctl brands delete brd_…": "would delete the brand of the other commands; test/faults/brand-deletion.full.test.ts runs it",

  "npm install --global pg": "test/e2e/command-line-package.full.test.ts installs it",
  "brand-records sync --db postgres://reports@db.example/reports": "the reader's database; test/clients/copies.test.ts",
  "brand-records sync --db copy.db --event body.json": "the reader's event; test/clients/copies.test.ts",
  "brand-records listen --secret-file secret --forward-to http://localhost:3000/hooks": "runs until Ctrl-C; test/e2e/listen.test.ts",
  "brand-records events send --record po_01kakdm9s0e4vb2n6p3q8r7t5w --to http://localhost:3000/hooks --secret-file secret":
    "the reader's record; test/e2e/command-line.test.ts sends some",
  "npm install --global @brand-records/cli": "from the registry; test/e2e/command-line-package.full.test.ts installs what is packed",
  "export BRAND_RECORDS_URL=https://records.example": "the other commands have that of the running system",
  "read -rs BRAND_RECORDS_KEY && export BRAND_RECORDS_KEY": "takes what the reader pastes",
  "(umask 077; cat > secret)": "takes what the reader pastes",
  "brand-records receivers prove --to http://localhost:3000/hooks --secret-file secret":
    "needs the reader's receiver; test/e2e/prove-receivers.test.ts",
  "brand-records receivers prove --to http://localhost:3000/hooks --secret-file secret --next-secret-file next":
    "needs the reader's receiver; test/e2e/prove-receivers.test.ts",
  "brand-records events verify --secret-file secret --headers headers.txt --body body.json --at 1795227310":
    "the reader's delivery; test/e2e/command-line.test.ts verifies the documented one",
  "npm pack --workspace clients/client --workspace clients/cli --pack-destination /tmp":
    "test/e2e/command-line-package.full.test.ts packs both",

  "npm run observe": "runs until Ctrl-C; test/observability/observe.full.test.ts runs it",
  "npm run licences": "npm run check runs it",
  "npm run advisories": "npm run check runs it",
  "scripts/supply-chain/audit.js": "npm run check runs it",
  "npm run sbom": "npm run check runs it",
  "npm run sbom -- /tmp/brand-records-1.1.0.cdx.json":
    "npm run check runs it; test/e2e/image.release.test.ts compares the result with the image",
  "sed -i 's/1\\.0\\.0/1.1.0/' deploy/helm/brand-records/Chart.yaml clients/client/src/version.ts":
    "would make another release of the clean copy",
  "git ls-files '*package.json' | xargs sed -i 's/\"1\\.0\\.0\"/\"1.1.0\"/'": "would make another release of the clean copy",
  "npm install --package-lock-only --ignore-scripts": "would change the lock of the clean copy",
  'npm run chart:package -- --release 1.1.0 --image "$IMAGE" --digest "$DIGEST" --destination /tmp --push "oci://$REGISTRY/charts"':
    "needs a registry; test/chart/chart.full.test.ts packages the chart, and renders the package",
  "npm run chart:readme": "it writes into the tree; test/docs/chart-readme.test.ts compares what it writes",
  "npx brandctl …": "stands for any of its commands",
  "brandctl audit export --follow": "it ends with Ctrl-C; brandctl/src/commands/audit-export.test.ts runs it",
  "npm run freeze": "would freeze what is not released; test/structure/released-migrations.test.ts checks its result",
  "DIGEST=$(jq -r '.\"containerimage.digest\"' image.json)": "reads what docker buildx writes",
  "deploy/image/require-release.sh": "the Dockerfile runs it with its arguments, as test/structure/supply-chain.test.ts does",
  "npm run settings": "would write into the clean copy; test/docs/settings.test.ts compares the file",
  "npm run dashboards": "would write into the clean copy; test/observability/dashboards.test.ts compares the files",
  "node --cpu-prof": "part of another command",

  "npm run screenshots": "takes eight minutes; test/e2e/console-screens.full.test.ts opens the screens",
  "npm run screenshots -- -t keys": "like npm run screenshots",

  "npx brandctl members erase EMAIL --yes":
    "needs a person who has left, and other commands need the member; brandctl/src/commands/members.test.ts runs it",

  // They need jq and the ids of a reader's own request.
  "grep -h order-sync-4711 .local/logs/*.log* | jq -sc 'sort_by(.time)[]'": "test/e2e/logs.full.test.ts follows a request by its id",
  "kubectl logs --namespace records --selector app.kubernetes.io/part-of=brand-records --all-containers --tail=-1 --since=1h | grep order-sync-4711 | jq -sc 'sort_by(.time)[]'":
    "a cluster; the lines are the same",
  "grep -h 4bf92f3577b34da6a3ce929d0e0e4736 .local/logs/*.log* | jq -sc 'sort_by(.time)[]'":
    "test/e2e/logs.full.test.ts follows a change by its trace id",
  [`jq -c 'select(.event_id == "evt_…" and .msg == "delivery attempted")' .local/logs/webhook.log`]: "needs jq",
  [`jq -c 'select(.receiver_id == "rcv_…" and .next_state != "delivered")' .local/logs/webhook.log`]: "needs jq",

  ...Object.fromEntries(ON_KUBERNETES.map((command) => [command, "npm run test:chart runs it, or what it runs in a pod"])),
  'curl --header "Authorization: Bearer $BRAND_RECORDS_KEY" http://localhost:8080/api/v1/campaigns':
    "needs the port-forward of the command before",
  ...Object.fromEntries(
    [...new Set(findManuals().flatMap(findCommands))].flatMap((command) =>
      BY_PROGRAM.filter(([begin]) => command.startsWith(begin)).map(([, reason]) => [command, reason]),
    ),
  ),
  "npm run test:chart": "npm run test:release runs the same files",
  "npm run test:image": "npm run test:release runs the same file",

  // Parts of other commands.
  "buf breaking": "npm run check runs it with its arguments",
  ".ci/run": "the tests of every change are part of it",
};
