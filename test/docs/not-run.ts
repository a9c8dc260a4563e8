/** Documented commands that commands.full.test.ts does not run, each with the reason. */
export const NOT_RUN: Readonly<Record<string, string>> = {
  // Other checks run these in a fresh clone.
  "npm ci && npm start": "scripts/newcomer.js runs it",
  "npm start": "scripts/newcomer.js runs it, and this test runs the other commands beside it",
  "npm ci && npm test": ".ci/run runs it",
  "npm ci": "scripts/newcomer.js runs it, and so does this test before everything else",
  "npm test": ".ci/run runs it, and this test is part of npm run test:full",
  "npx jest limits": "npm test runs the same files",
  "scripts/newcomer.js": ".ci/run runs it: it needs a clone",
  "npm run check": ".ci/run runs it",
  "npm run image:steps -- /tmp/image": "test/e2e/image.full.test.ts runs it and its result",
  "npm run test:full": ".ci/run runs it, and this test is part of it",
  "npx jest --config jest.full.config.js ledger": "npm run test:full runs the same files",
  "npx jest --config jest.full.config.js test/clients": "npm run test:full runs the same files",
  "deploy/backing-services/ensure.sh": "every test run starts with it",

  // The machines of the checks lack these programs.
  "cp .env.example .env": "for docker compose: no Docker engine",
  "docker compose up --detach": "no Docker engine; test/e2e/image.full.test.ts runs the image's steps",
  "docker compose run --rm brandctl doctor": "no Docker engine",
  'docker compose run --rm brandctl brands create --name "Tindahan ni Aling Nena" --tier plus --verified': "no Docker engine",
  "docker compose run --rm -T brandctl records import --brand brd_… --resource links - < test/samples/links.ndjson": "no Docker engine",
  "docker build --tag chat-relay examples/relay": "no Docker engine; test/e2e/relay-image.test.ts follows the Dockerfile",
  'docker run --detach --name chat-relay --restart unless-stopped --stop-timeout 20 --publish 127.0.0.1:8790:8790 --volume chat-relay:/data --volume "$PWD/relay-secrets:/run/secrets:ro" --env RELAY_SECRET_FILE=/run/secrets/secret --env RELAY_CHAT_URL_FILE=/run/secrets/chat-url --env RELAY_CHAT_KIND=slack chat-relay':
    "no Docker engine; test/e2e/relay-image.test.ts runs the image's command",
  "docker logs chat-relay": "no Docker engine",
  'psql "$ADMIN_URL" -v ON_ERROR_STOP=1 -f services/records/platform-role.sql':
    "psql is not required; npm start runs the file, test/e2e/launch.full.test.ts tests the grants",
  'psql "$ADMIN_URL" -c "create role platform_backend login password \'…\' in role platform"':
    "psql is not required; npm start creates such a login, test/e2e/launch.full.test.ts uses it",
  'psql "$(node -p \'require("./.local/run.json").platform_database_url\')"':
    "psql is not required; test/e2e/launch.full.test.ts connects to this URL",

  // Third-party programs that the reader installs.
  'claude mcp add --transport http brand-records http://127.0.0.1:8080/api/mcp --header "Authorization: Bearer $KEY"':
    "Claude Code; test/e2e/launch.full.test.ts connects with the command's URL and header",
  'claude mcp add --transport http brand-records "$BASE_URL/api/mcp" --header "Authorization: Bearer $KEY"': "Claude Code",
  'npx mcp-remote https://records.example/api/mcp --header "Authorization: Bearer $KEY"': "a third-party program from the registry",
  "npm install @modelcontextprotocol/client": "in the reader's own folder; test/e2e/docs.test.ts runs the example with it",
  "WEBHOOK_SECRET=whsec_… PORT=8000 node receiver.mjs": "the page's program; test/e2e/webhook-programs.test.ts runs it",
  "node paid.mjs": "the example's file; test/e2e/docs.test.ts runs it",
  "npm install standardwebhooks": "in the reader's own folder; test/e2e/webhook-docs.test.ts runs the example with it",
  "npx node examples/relay/trial/chat.js": "runs until Ctrl-C; a stand-in for a chat, without logic",
  "RELAY_SECRET_FILE=.local/relay-secret RELAY_CHAT_KIND=slack RELAY_CHAT_URL=http://127.0.0.1:8791/ RELAY_DATABASE=.local/relay.sqlite npx node examples/relay/main.js":
    "runs until Ctrl-C; test/e2e/relay.test.ts runs main.js",

  "(umask 077; cat > relay-secrets/secret)": "takes what the reader pastes",
  "(umask 077; cat > relay-secrets/chat-url)": "takes what the reader pastes",
  "(umask 077; npx brandctl receivers rotate rcv_… --brand brd_… > relay-secrets/next)": "docs/webhooks.md has the command without files",
  "(umask 077; paste -d, relay-secrets/secret relay-secrets/next > relay-secrets/both && mv relay-secrets/both relay-secrets/secret)":
    "needs the files of the commands before; test/e2e/relay.test.ts rotates so",
  "mv relay-secrets/next relay-secrets/secret": "needs the files of the commands before; test/e2e/relay.test.ts rotates so",

  // For programs that the reader copies.
  "node examples/sync/sync.js": "needs Node 22.13, which the machine may lack; test/e2e/sync.full.test.ts runs it",
  "python3 examples/sync/sync.py event < body.json": "the reader's event; test/e2e/sync.full.test.ts runs it with its own",

  "npx brandctl brands delete brd_…": "would delete the brand of the other commands; test/faults/brand-deletion.full.test.ts runs it",

  // Runs until Ctrl-C, and its pipe takes no options of ours.
  "npx brandctl listen --create --brand brd_… --json | jq -c .body":
    "packages/brandctl/src/commands/listen.test.ts tests the lines that it prints",

  "npm run screenshots": "takes eight minutes; test/e2e/console-screens.full.test.ts opens the screens",
  "npm run screenshots -- -t keys": "like npm run screenshots",

  "npx brandctl members erase EMAIL --yes":
    "needs a person who has left, and other commands need the member; packages/brandctl/src/commands/members-people.test.ts runs it",

  // Parts of other commands.
  "buf breaking": "npm run check runs it with its arguments",
};
