import { join } from "node:path";
import { connectRpc, newCallContext, type RpcClient } from "@brand-records/rpc";
import { CertificateAuthority, type IssuedCertificate } from "@brand-records/testkit";
import { benchProgram } from "../bench-program.ts";
import { makeFolder, removeFolder } from "../folder.ts";
import type { Owned } from "../owned.ts";
import { cpuMs } from "../process-usage.ts";
import { ROOT, startProgram } from "../program.ts";
import { medianInterval, spreadOf } from "../statistics.ts";
import { CALLS_IN_FLIGHT, ROUNDS, TURN_MS, WARM_UP_MS } from "./settings.ts";
import { TrivialService } from "./trivial-service.ts";

const USAGE = `npm run bench:identities -- [--json FILE]

  Measures what the check of a caller's identity costs: calls/s of a trivial method over mutual TLS, with it and without. About a minute.

  --json FILE   writes all results
`;

const PREFIX = "spiffe://records.example/ns/live/sa/";
/** A server whose own certificate has no id checks nobody's: else both are the same. */
const VARIANTS = { checked: [`URI:${PREFIX}records`], unchecked: [] } as const;
type Variant = keyof typeof VARIANTS;
type Client = RpcClient<typeof TrivialService>;

interface IdentitiesResult {
  readonly rounds: Record<Variant, readonly number[]>;
  /** Calls/s with the check over calls/s without, by round. */
  readonly ratios: readonly number[];
  /** CPU time of the server. */
  readonly microsecondsPerCall: Record<Variant, number>;
}

interface Measured {
  readonly client: Client;
  readonly pid: number;
  stop(): void;
}

await benchProgram({ usage: USAGE, run, report });

async function run(owned: Owned, log: (text: string) => void): Promise<IdentitiesResult> {
  const folder = await owned.own("folder", makeFolder(), removeFolder);
  const authority = new CertificateAuthority(folder);
  const own = authority.issue("gateway", { names: [`URI:${PREFIX}gateway`] });
  const measured = {} as Record<Variant, Measured>;
  for (const variant of Object.keys(VARIANTS) as Variant[]) {
    const certificate = authority.issue(variant, { names: ["DNS:localhost", ...VARIANTS[variant]] });
    measured[variant] = await owned.own(variant, connectTo(variant, certificate, own, folder, owned));
    await callsPerSecond(measured[variant].client, WARM_UP_MS);
  }
  const cpu = async (): Promise<Record<Variant, number>> => ({
    checked: await cpuMs(measured.checked.pid),
    unchecked: await cpuMs(measured.unchecked.pid),
  });
  const before = await cpu();
  const calls = { checked: 0, unchecked: 0 };
  const rounds: Record<Variant, number[]> = { checked: [], unchecked: [] };
  for (let round = 0; round < ROUNDS; round += 1) {
    const order: Variant[] = round % 2 === 0 ? ["checked", "unchecked"] : ["unchecked", "checked"];
    for (const variant of order) {
      const turn = await callsPerSecond(measured[variant].client, TURN_MS);
      rounds[variant].push(turn.rate);
      calls[variant] += turn.calls;
    }
    log(`Round ${round + 1} of ${ROUNDS}: ${order.map((variant) => `${variant} ${Math.round(rounds[variant].at(-1) ?? 0)}/s`).join(", ")}`);
  }
  const after = await cpu();
  const perCall = (variant: Variant): number => ((after[variant] - before[variant]) / calls[variant]) * 1_000;
  const microsecondsPerCall = { checked: perCall("checked"), unchecked: perCall("unchecked") };
  return { rounds, microsecondsPerCall, ratios: rounds.checked.map((rate, round) => rate / (rounds.unchecked[round] ?? Number.NaN)) };
}

async function connectTo(name: string, { cert, key, ca }: IssuedCertificate, own: IssuedCertificate, folder: string, owned: Owned) {
  const env = { RPC_TLS_CERT: cert, RPC_TLS_KEY: key, RPC_TLS_CA: ca };
  const script = join(ROOT, "test/dist/bench/identities/server-main.js");
  const program = await owned.own(
    `${name} server`,
    Promise.resolve(startProgram({ name, script, env }, { folder, profileDir: undefined })),
  );
  const { port } = (await Promise.race([program.ready, program.ended])) as { port: number };
  const config = { RPC_TLS_CERT: own.cert, RPC_TLS_KEY: own.key, RPC_TLS_CA: own.ca, RPC_TLS_WITHOUT_IDS: "true" };
  const client = connectRpc(TrivialService, `localhost:${port}`, { config });
  return { client, pid: program.pid, stop: () => client.stop() };
}

/** Keeps CALLS_IN_FLIGHT calls going. Any error ends the run. */
async function callsPerSecond(client: Client, ms: number): Promise<{ calls: number; rate: number }> {
  const message = Buffer.from("same");
  const startedAt = performance.now();
  let calls = 0;
  const callOn = async (): Promise<void> => {
    while (performance.now() - startedAt < ms) {
      await client.same(message, newCallContext(10_000, "bench"));
      calls += 1;
    }
  };
  await Promise.all(Array.from({ length: CALLS_IN_FLIGHT }, callOn));
  return { calls, rate: (calls / (performance.now() - startedAt)) * 1_000 };
}

function report({ rounds, ratios, microsecondsPerCall }: IdentitiesResult): string {
  const { median, low, high } = medianInterval(ratios);
  const rateOf = (variant: Variant): string => {
    const rate = Math.round(spreadOf(rounds[variant]).median).toLocaleString("en");
    return `${variant.padEnd(10)}${rate.padStart(8)} calls/s   ${microsecondsPerCall[variant].toFixed(1)} µs of the server's CPU a call`;
  };
  return [rateOf("checked"), rateOf("unchecked"), `ratio ${median.toFixed(3)} (95%: ${low.toFixed(3)} to ${high.toFixed(3)})`].join("\n");
}
