// Drives the command line in this process: what Ask in drivers.ts says.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";

const TIMED_CLIENT = import.meta.resolve("./timed-client.mjs");
registerHooks({
  resolve: (specifier, context, next) =>
    specifier === "@brand-records/client" && context.parentURL !== TIMED_CLIENT
      ? { url: TIMED_CLIENT, shortCircuit: true }
      : next(specifier, context),
});
const { retries } = await import(TIMED_CLIENT);
const { runCli } = await import("../../../../clients/cli/dist/run.js");

const ask = JSON.parse(process.argv[2]);
const folder = mkdtempSync(join(tmpdir(), "command-line-"));
const file = (name, content) => {
  const path = join(folder, name);
  if (content !== undefined) writeFileSync(path, content);
  return path;
};

let keysRead = 0;
const env = {
  BRAND_RECORDS_URL: ask.url,
  get BRAND_RECORDS_KEY() {
    return ask.keys[Math.min(keysRead++, ask.keys.length - 1)];
  },
};

async function run(...args) {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const printed = Promise.all([text(stdout), text(stderr)]);
  const terminal = { stdin: Readable.from([]), stdout, stderr, env, interrupted: new AbortController().signal };
  await runCli([...args, "--json"], terminal, "1.0.0");
  stdout.end();
  stderr.end();
  const [shown, remarks] = await printed;
  const failure = remarks.split("\n").find((line) => line.startsWith('{"error"'));
  return { done: shown === "" ? undefined : JSON.parse(shown), error: failure === undefined ? null : told(JSON.parse(failure).error) };
}

/** What the command line has in its words alone. */
const told = ({ code, field, request_id, message, hint = "" }) => ({
  code,
  field,
  request_id,
  message,
  plan_request_id: /--request-id (\S+)/.exec(hint)?.[1],
  retry_after: Number(/Again in (\d+) s/.exec(hint)?.[1] ?? Number.NaN) || undefined,
});

const ACTIONS = {
  async list() {
    const filters = Object.entries(ask.filters ?? {}).flatMap(([name, value]) => [`--${name.replaceAll("_", "-")}`, value]);
    const out = file("records");
    const { error } = await run("export", ask.resource, "--format", "ndjson", "--out", out, ...filters);
    const path = [out, `${out}.part`].find(existsSync);
    const lines = path === undefined ? [] : readFileSync(path, "utf8").split("\n").filter(Boolean);
    return { ids: lines.map((line) => JSON.parse(line).id), error };
  },
  async prepare() {
    const { done, error } = await run("plans", "prepare", "--file", file("plan", JSON.stringify(ask.plan)));
    return { plan_id: done?.plan_id, error };
  },
  async verify() {
    const secrets = ["--secret-file", file("secret", ask.secrets.join("\n"))];
    const headers = ["--headers", file("headers", ask.headers.map(([name, value]) => `${name}: ${value}\n`).join(""))];
    const body = ["--body", file("body", Buffer.from(ask.body_base64, "base64"))];
    const at = ask.now === undefined ? [] : ["--at", String(ask.now)];
    const { done, error } = await run("events", "verify", ...secrets, ...headers, ...body, ...at);
    return { event_id: done?.event.id, error };
  },
  async sync() {
    const { error } = await run("sync", "--db", ask.db);
    const { DatabaseSync } = await import("node:sqlite");
    const db = new DatabaseSync(ask.db);
    const ids = db.prepare("select id from records order by rowid").all();
    return { ids: ids.map(({ id }) => id), error };
  },
};

try {
  console.log(JSON.stringify({ ids: [], ...(await ACTIONS[ask.action]()), retries }));
} finally {
  rmSync(folder, { recursive: true });
}
