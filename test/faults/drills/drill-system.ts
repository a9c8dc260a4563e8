import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  eventually,
  startKafkaServer,
  startPostgresServer,
  startRedisServer,
  startTcpProxy,
  type KafkaServer,
  type PostgresServer,
  type RedisServer,
  type ServiceProcess,
  type TcpProxy,
} from "@brand-records/testkit";
import { freePort } from "@brand-records/postgres/embedded";
import { logOf } from "../../admin-port.ts";
import { signIn, type ConsoleCaller } from "../../console-calls.ts";
import { startFakeReceivers, type Behavior, type FakeReceivers } from "../../fake-receivers.ts";
import { startPrometheus, type TestPrometheus } from "../../observability/prometheus.ts";
import { startMachineClock, type MachineClock } from "../../machine-clock.ts";
import { RULES_FOLDER, writeScaledRules } from "../../observability/scale-rules.ts";
import { startStack, type ProcessName, type Stack, type TestBrand } from "../../stack.ts";
import { callsOf } from "./callers.ts";
import { Load } from "./load.ts";
import { Platform } from "./platform.ts";

export const PROCESSES = ["gateway", "console", "accounts", "records", "plans", "webhook"] as const satisfies readonly ProcessName[];

/** Ten delays, as in production, but short: a drill lasts seconds. */
const RETRY_DELAYS_SECONDS = "0.5,1,1,2,2,2,5,5,5";
/** Receivers of `crowd`; the load's brand has one. */
const CROWD = 12;

/** The whole system on servers of its own, under load, watched by a Prometheus with the rules scaled 1:60. */
export interface DrillSystem {
  readonly stack: Stack;
  readonly postgres: PostgresServer;
  readonly redis: RedisServer;
  /** Between accounts and Redis; the gateways reach Redis directly. */
  readonly accountsToRedis: TcpProxy;
  readonly kafka: KafkaServer;
  /** The clock of all processes; the servers have another. */
  readonly clock: MachineClock;
  readonly platform: Platform;
  readonly receivers: FakeReceivers;
  readonly load: Load;
  /** The brand of the load, and its owner in the console. */
  readonly brand: TestBrand;
  readonly owner: ConsoleCaller;
  readonly prometheus: TestPrometheus;
  /** A brand with many receivers, which gets events only while `behave` makes them fail. */
  readonly crowd: TestBrand;
  /** Starts another Prometheus with the rules as they are. The caller must stop it. */
  watchUnscaled(): Promise<TestPrometheus>;
  /** Resolves when Prometheus has seen every process, and no alert of its own start fires any more, except `Watchdog`. */
  untilWatched(): Promise<void>;
  processOf(name: ProcessName): ServiceProcess;
  kill(name: ProcessName): Promise<void>;
  signal(name: ProcessName, signal: "SIGSTOP" | "SIGCONT"): void;
  /** What the receivers of `crowd` do from now on. */
  behave(behavior: (receiver: number) => Behavior): void;
  /** Lines that the processes have logged at `error` or above, also those that were killed. */
  errorLines(): string[];
  /** What the running process has logged. */
  logOf(name: ProcessName): readonly Record<string, unknown>[];
  stop(): Promise<void>;
}

export async function startDrillSystem(): Promise<DrillSystem> {
  const owned: { stop(): Promise<void> }[] = [];
  const own = <T extends { stop(): Promise<void> }>(each: T): T => {
    owned.unshift(each);
    return each;
  };
  const stop = async (): Promise<void> => {
    for (const each of owned.splice(0)) await each.stop();
  };
  try {
    return await start(own, stop);
  } catch (error) {
    await stop();
    throw error;
  }
}

async function start(own: <T extends { stop(): Promise<void> }>(each: T) => T, stop: () => Promise<void>): Promise<DrillSystem> {
  const folder = await mkdtemp(join(tmpdir(), "drills-"));
  own({ stop: () => rm(folder, { recursive: true, force: true }) });
  const clock = own(await startMachineClock());
  const [postgres, redis, kafka] = await Promise.all([startPostgresServer(), startRedisServer(), startKafkaServer()]);
  for (const server of [postgres, redis, kafka]) own(server);
  const accountsToRedis = own(await startTcpProxy({ host: "127.0.0.1", port: Number(new URL(redis.url).port) }));
  const adminPorts = Object.fromEntries(await Promise.all(PROCESSES.map(async (name) => [name, await freePort()] as const)));
  const stack = own(
    await startStack({
      database: { url: postgres.url, drop: async () => {} },
      hasConsole: true,
      redisUrl: redis.url,
      kafkaBrokers: kafka.brokers,
      env: {
        ...clock.env,
        LOG_LEVEL: "info",
        RATE_LIMIT_PLUS: "100000",
        REDIS_COMMAND_TIMEOUT_MS: "100",
        RECEIVERS_ON_LOOPBACK: "true",
        DELIVERY_DEADLINE_MS: "2000",
        RETRY_DELAYS_SECONDS,
      },
      envOf: Object.fromEntries(
        PROCESSES.map((name) => {
          const viaProxy = name === "accounts" ? { REDIS_URL: `redis://127.0.0.1:${accountsToRedis.port}` } : {};
          return [name, { ADMIN_PORT: String(adminPorts[name]), ...viaProxy }];
        }),
      ),
    }),
  );
  let behavior: (receiver: number) => Behavior = () => "accepted";
  const receivers = own(await startFakeReceivers((receiver) => (receiver === 0 ? "accepted" : behavior(receiver))));
  const platform = own(new Platform(postgres.url));
  const [brand, crowd] = [await stack.createBrand({ permissions: ["campaigns:prepare"] }), await stack.createBrand()];
  await platform.prepare();
  await platform.addRecords(brand.id);
  await stack.addReceiver(brand, receivers.urlOf(0));
  for (let index = 1; index <= CROWD; index += 1) await stack.addReceiver(crowd, receivers.urlOf(index));
  const owner = await signIn(stack, stack.gateways[0].console!.url, brand.owner);
  const load = own(new Load({ ...callsOf({ stack, brand, person: owner }), change: () => platform.change() }));
  await load.untilGood();
  const targets = Object.fromEntries(PROCESSES.map((name) => [name, `http://127.0.0.1:${adminPorts[name]}`]));
  const prometheus = own(await startPrometheus({ rules: await writeScaledRules(folder), targets }));

  const ended: ServiceProcess[] = [];
  const processOf = (name: ProcessName): ServiceProcess => {
    if (name === "gateway") return stack.gateways[0].process;
    return name === "console" ? stack.gateways[0].console!.process : stack.processes[name];
  };
  return {
    stack,
    postgres,
    redis,
    accountsToRedis,
    kafka,
    clock,
    platform,
    receivers,
    load,
    brand,
    owner,
    prometheus,
    crowd,
    watchUnscaled: async () =>
      startPrometheus({ rules: (await readdir(RULES_FOLDER)).map((name) => join(RULES_FOLDER, name)), targets, evaluationMs: 1_000 }),
    untilWatched: () =>
      eventually(
        async () => {
          expect((await prometheus.query("up == 1")).length).toBe(PROCESSES.length);
          expect((await prometheus.alerts()).filter(({ state, labels }) => state === "firing" && labels["severity"] !== "none")).toEqual(
            [],
          );
        },
        { timeoutMs: 60_000, everyMs: 250 },
      ),
    processOf,
    async kill(name) {
      ended.push(processOf(name));
      await processOf(name).kill("SIGKILL");
    },
    signal: (name, signal) => void process.kill(processOf(name).pid, signal),
    behave: (next) => void (behavior = next),
    errorLines: () =>
      [...ended, ...PROCESSES.map(processOf)].flatMap((each) =>
        each
          .output()
          .split("\n")
          .filter((line) => /"level":"(error|fatal)"/.test(line) || (line !== "" && !line.startsWith("{"))),
      ),
    logOf: (name) => logOf(processOf(name)),
    stop,
  };
}
