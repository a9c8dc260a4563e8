import { eventually } from "@brand-records/testkit";
import type { ProcessName } from "../../stack.ts";
import { readinessOf } from "../../admin-port.ts";
import type { Answers, Drill } from "./drill.ts";
import { PROCESSES } from "./drill-system.ts";
import { LeakedKey } from "./leaked-key.ts";
import { RETENTION_DRILL } from "./retention-drill.ts";
import { TOPIC_DRILLS } from "./topic-drills.ts";

const UNAVAILABLE = "503 unavailable";
const TIMEOUT = "504 timeout";

interface ProcessDrill {
  readonly name: ProcessName;
  /** The process whose calls fail. */
  readonly caller?: ProcessName;
  readonly killed: Pick<Drill, "answers" | "atTimes">;
  readonly frozen: Pick<Drill, "answers" | "atTimes" | "slowestSeconds">;
}

const refused = ["refused", "reset"];

/** Integrations and assistants; a key that was verified in the last 30 seconds needs no accounts. */
const apiCalls = (answers: readonly string[]): Answers => ({ page: answers, tool: answers, plan: answers });
const consoleCalls = (answers: readonly string[]): Answers => ({ keys: answers, receivers: answers });

const PROCESS_DRILLS: readonly ProcessDrill[] = [
  {
    name: "gateway",
    killed: { answers: { ...apiCalls(refused), ...consoleCalls(refused) } },
    // Nothing is left to enforce a deadline.
    frozen: { answers: {}, atTimes: { ...apiCalls([TIMEOUT]), ...consoleCalls([TIMEOUT]) }, slowestSeconds: 25 },
  },
  {
    name: "console",
    caller: "gateway",
    killed: { answers: consoleCalls([UNAVAILABLE]) },
    // The gateway waits longer than the console's own deadline.
    frozen: { answers: consoleCalls([TIMEOUT]), slowestSeconds: 20 },
  },
  {
    name: "accounts",
    caller: "console",
    killed: { answers: consoleCalls([UNAVAILABLE]), atTimes: { ...apiCalls([UNAVAILABLE, TIMEOUT]), ...consoleCalls([TIMEOUT]) } },
    frozen: { answers: consoleCalls([TIMEOUT]), atTimes: apiCalls([TIMEOUT]) },
  },
  {
    name: "records",
    caller: "gateway",
    killed: { answers: { page: [UNAVAILABLE], tool: [UNAVAILABLE] }, atTimes: { page: [TIMEOUT], tool: [TIMEOUT] } },
    frozen: { answers: { page: [TIMEOUT], tool: [TIMEOUT] } },
  },
  {
    name: "plans",
    caller: "gateway",
    killed: { answers: { plan: [UNAVAILABLE] }, atTimes: { plan: [TIMEOUT] } },
    frozen: { answers: { plan: [TIMEOUT] } },
  },
  {
    name: "webhook",
    caller: "console",
    killed: { answers: { receivers: [UNAVAILABLE] }, atTimes: { receivers: [TIMEOUT] } },
    frozen: { answers: { receivers: [TIMEOUT] } },
  },
];

const SERVER_DRILLS: readonly Drill[] = [
  {
    fault: "Redis stopped",
    alert: "RateLimitPerProcess",
    answers: {},
    apply: ({ redis }) => redis.kill(),
    // Gateways cache nothing without Redis, so the key is refused with the next request.
    async during(system) {
      const leaked = await LeakedKey.inUse(system);
      await leaked.revoke();
      expect(await leaked.status()).toBe(401);
    },
    heal: ({ redis }) => redis.start(),
  },
  redisAwayFromAccounts(),
  {
    fault: "Redis frozen",
    alert: "RateLimitPerProcess",
    answers: {},
    apply: ({ redis }) => redis.freeze(),
    heal: ({ redis }) => redis.thaw(),
  },
  {
    fault: "Postgres stopped",
    alert: "PostgresUnavailable",
    logged: { process: "records", dependency: "postgres" },
    answers: { ...apiCalls([UNAVAILABLE]), ...consoleCalls([UNAVAILABLE]), change: ["unavailable"] },
    atTimes: { ...apiCalls([TIMEOUT]), ...consoleCalls([TIMEOUT]) },
    apply: ({ postgres }) => postgres.kill(),
    heal: ({ postgres }) => postgres.start(),
  },
  {
    fault: "Postgres frozen",
    alert: "PostgresUnavailable",
    logged: { process: "records", dependency: "postgres" },
    answers: { ...apiCalls([UNAVAILABLE, TIMEOUT]), ...consoleCalls([UNAVAILABLE, TIMEOUT]), change: ["unavailable", "timeout"] },
    apply: ({ postgres }) => postgres.freeze(),
    heal: ({ postgres }) => postgres.thaw(),
  },
  {
    fault: "Postgres read-only",
    alert: "PostgresReadOnly",
    logged: { process: "plans", dependency: "postgres" },
    answers: { plan: [UNAVAILABLE], change: ["unavailable"] },
    // A call in the console that notes when the session was used writes.
    atTimes: { plan: [TIMEOUT], ...consoleCalls([UNAVAILABLE, TIMEOUT]) },
    apply: ({ platform }) => platform.setReadOnly(true),
    heal: ({ platform }) => platform.setReadOnly(false),
  },
  {
    fault: "Kafka stopped",
    alert: "EventLogUnavailable",
    answers: {},
    apply: ({ kafka }) => kafka.kill(),
    heal: ({ kafka }) => kafka.start(),
  },
  {
    fault: "Kafka frozen",
    alert: "EventLogUnavailable",
    answers: {},
    apply: ({ kafka }) => kafka.freeze(),
    heal: ({ kafka }) => kafka.thaw(),
  },
  {
    fault: "clocks 10 minutes ahead",
    alert: "ClockOff",
    answers: {},
    // Calls that are under way when the clock is set have no time left.
    atTimes: { ...apiCalls([TIMEOUT, UNAVAILABLE]), ...consoleCalls([TIMEOUT, UNAVAILABLE]) },
    apply: ({ clock }) => clock.setAhead(600),
    async during({ receivers, processOf }) {
      for (const name of PROCESSES) expect(await readinessOf(processOf(name))).toEqual({ status: "ready", degraded: ["correct clock"] });
      const before = receivers.arrivals.length;
      await eventually(() => expect(receivers.arrivals.length).toBeGreaterThan(before + 5));
      // Receivers allow five minutes.
      expect(receivers.arrivals.slice(before).filter(({ signedAt, at }) => Math.abs(signedAt - at) > 60_000)).toEqual([]);
    },
    heal: ({ clock }) => clock.setAhead(0),
  },
  {
    fault: "receivers fail",
    alert: "ReceiversFailing",
    answers: {},
    async apply({ behave, platform, crowd }) {
      behave((receiver) => (receiver % 2 === 0 ? "500" : "hang"));
      await platform.addRecords(crowd.id);
    },
    // The receiver of another brand gets its events all the same.
    async during({ receivers }) {
      const arrived = (): number => receivers.arrivals.filter(({ receiver }) => receiver === 0).length;
      const before = arrived();
      await eventually(() => expect(arrived()).toBeGreaterThan(before + 5));
    },
    async heal({ behave, platform, crowd }) {
      platform.forgetRecords(crowd.id);
      behave(() => "accepted");
    },
  },
];

/** Gateways reach Redis, and trust what they have cached. */
function redisAwayFromAccounts(): Drill {
  let leaked: LeakedKey;
  return {
    fault: "Redis away at a revocation",
    alert: "RateLimitPerProcess",
    answers: {},
    // A gateway that Redis answers late verifies the key: then it takes another one.
    apply: (system) =>
      eventually(async () => {
        await system.accountsToRedis.heal();
        leaked = await LeakedKey.inUse(system);
        await system.accountsToRedis.cut();
        await leaked.revoke();
        expect(await leaked.status()).toBe(200);
      }),
    during: () => leaked.untilRefused(),
    heal: ({ accountsToRedis }) => accountsToRedis.heal(),
  };
}

export const DRILLS: readonly Drill[] = [
  ...PROCESS_DRILLS.flatMap(({ name, caller, killed, frozen }): Drill[] => {
    const logged = caller === undefined ? {} : { logged: { process: caller, dependency: name } };
    return [
      {
        fault: `${name} killed`,
        alert: "ProcessDown",
        labels: { service: name },
        ...logged,
        ...killed,
        apply: (system) => system.kill(name),
        heal: ({ stack }) => stack.restart(name),
      },
      {
        fault: `${name} frozen`,
        alert: "ProcessDown",
        labels: { service: name },
        ...logged,
        ...frozen,
        apply: async (system) => system.signal(name, "SIGSTOP"),
        heal: async (system) => system.signal(name, "SIGCONT"),
      },
    ];
  }),
  ...SERVER_DRILLS,
  RETENTION_DRILL,
  ...TOPIC_DRILLS,
];
