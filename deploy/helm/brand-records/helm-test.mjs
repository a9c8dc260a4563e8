/*
 * What `helm test` runs: every process type is ready and lacks nothing, and the gateway refuses a request without a key. The arguments are
 * the seconds to wait for that (processes may still be joining Kafka's group when their pods are ready), and URLs with the status that each
 * must return, such as `200=http://br-brand-records-records-admin:9090/readyz`.
 */
import { lookup } from "node:dns/promises";
import { setTimeout as pause } from "node:timers/promises";

const RESPONSE_MS = 10_000;
const PAUSE_MS = 1_000;

const [, waitSeconds, ...targets] = process.argv;
const expected = targets.map((target) => target.split("=", 2));
const deadline = Date.now() + Number(waitSeconds) * 1_000;
let checks;
let wrong;
do {
  if (checks !== undefined) await pause(PAUSE_MS);
  checks = (await Promise.all(expected.map(([status, url]) => checkAddresses(Number(status), url)))).flat();
  wrong = checks.filter(({ problem }) => problem !== undefined);
} while (wrong.length > 0 && Date.now() < deadline);
for (const { text, problem } of checks) console.log(problem === undefined ? text : `${text}: ${problem}`);
if (wrong.length > 0) {
  console.error(`${wrong.length} of ${checks.length} checks failed. The events and logs of pods say why, brandctl doctor what to do.`);
  process.exitCode = 1;
}

/** Checks every address of the URL's host: a headless Service of admin ports has one for each process that runs. */
async function checkAddresses(status, url) {
  const { hostname } = new URL(url);
  try {
    const addresses = await lookup(hostname, { all: true });
    return await Promise.all(addresses.map(({ address, family }) => check(status, url, family === 6 ? `[${address}]` : address)));
  } catch (error) {
    return [{ text: `--- ${url}`, problem: `no process runs: its name has no address (${error.code ?? error.message})` }];
  }
}

/** A process that serves without something returns 200 and names it: `{"status":"ready","degraded":["redis"]}`. */
async function check(wanted, url, host) {
  const target = new URL(url);
  target.hostname = host;
  try {
    const response = await fetch(target, { signal: AbortSignal.timeout(RESPONSE_MS) });
    const { degraded = [], waiting_for: waitingFor = [] } = (await response.json().catch(() => undefined)) ?? {};
    const text = `${response.status} ${url} at ${host}`;
    if (response.status === wanted)
      return { text, problem: degraded.length > 0 ? `degraded: it serves without its ${degraded.join(", ")}` : undefined };
    return { text, problem: waitingFor.length > 0 ? `waits for its ${waitingFor.join(", ")}` : `${wanted} was expected` };
  } catch (error) {
    const reason = error.name === "TimeoutError" ? `did not respond within ${RESPONSE_MS / 1_000} s` : (error.cause ?? error).message;
    return { text: `--- ${url} at ${host}`, problem: reason };
  }
}
