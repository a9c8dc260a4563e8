import { setTimeout as pause } from "node:timers/promises";
import { startDnsServer } from "@brand-records/testkit";
import { Brands, type EntryCounts, type EventCounts } from "./brands.ts";
import { Fleet, PROCESS_TYPES, type ProcessType, type Release } from "./fleet.ts";
import { Traffic, type Outcome } from "./traffic.ts";

/** Traffic before the first and after the last replacement. */
const CALM_MS = 2_000;

export interface RollingOptions {
  readonly databaseUrl: string;
  readonly perSecond: number;
  readonly settings: Readonly<Record<string, string>>;
  /** As of the fleet. */
  readonly startsCompete?: boolean;
  readonly present: Release;
  /** Where it begins: every process is replaced by the present release, one type after the other, and then, all at once, by this one again. */
  readonly from?: Release;
  /** The type whose processes are replaced before the others. */
  readonly first?: ProcessType | undefined;
  /** Reports progress. */
  log(text: string): void;
}

export interface RollingResult {
  readonly outcomes: readonly Outcome[];
  readonly events: EventCounts;
  readonly entries: EntryCounts;
  /** Processes that did not stop with 0. */
  readonly badExits: readonly string[];
  /** Lines of level warn and above, by process. */
  readonly logs: ReadonlyMap<string, string>;
}

/** Replaces the processes of every type, one after the other, and then all at once, under constant traffic. */
export async function rollingRun(options: RollingOptions): Promise<RollingResult> {
  const { databaseUrl, settings, startsCompete = false, present, from = present, first, log } = options;
  const addresses = new Map<string, readonly string[]>();
  const dns = await startDnsServer((name, type) => (type === "A" ? (addresses.get(name) ?? []) : []));
  const stops: (() => unknown)[] = [() => dns.stop()];
  try {
    const fleet = await Fleet.start({ databaseUrl, dnsPort: dns.port, addresses, settings, startsCompete }, from);
    stops.unshift(() => fleet.stop());
    const brands = await Brands.create(fleet, databaseUrl);
    stops.unshift(() => brands.stop());
    await brands.signIn(fleet);
    const traffic = new Traffic(fleet, brands, options.perSecond);
    await pause(CALM_MS);
    // From here on a call that proves no person is not the operator's: the console must prove for whom it acts.
    fleet.settings = { RPC_OPERATOR_WITHOUT_TLS: "false" };
    for (const type of new Set(first === undefined ? PROCESS_TYPES : [first, ...PROCESS_TYPES])) {
      log(type);
      traffic.phase = type;
      await fleet.roll(type, present);
    }
    log("all at once");
    traffic.phase = "all at once";
    await fleet.rollAll(from);
    await fleet.ended();
    traffic.phase = "after";
    await pause(CALM_MS);
    await traffic.stop();
    const { outcomes } = traffic;
    const [events, entries] = [await brands.count(), await brands.countEntries()];
    return { outcomes, events, entries, badExits: fleet.badExits, logs: fleet.logs() };
  } finally {
    for (const stop of stops) await stop();
  }
}
