import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { repeat, type Stoppable, withTimeout } from "@brand-records/lifecycle";
import type { Database } from "@brand-records/postgres";
import { type Logger, type Registry, showGauge } from "@brand-records/telemetry";
import {
  type Announcement,
  beat,
  CURRENT_SECONDS,
  type HeldKey,
  type LivingProcess,
  livingProcesses,
  lockAnnouncement,
  removeEnded,
  removeProcess,
  writeAnnouncement,
} from "./living-processes.ts";

const EVERY_MS = 5_000;
/** A heartbeat may be cut off anywhere, and an announcement that is not removed expires. */
const STOP_MS = 2_000;

export interface AnnounceOptions {
  readonly db: Database;
  /** A schema with the table `living_processes`. */
  readonly schema: string;
  readonly keys: readonly HeldKey[];
  readonly log: Logger;
  /**
   * Looks for what this process cannot read. Called when it had counted as ended, was frozen for example, and is announced again:
   * meanwhile others may have stored something under keys that it lacks. Repeated with each heartbeat until it resolves to true: there is
   * nothing, or no longer.
   */
  readonly onRevived?: (() => Promise<boolean>) | undefined;
  /** Milliseconds between two heartbeats. Default: 5,000. */
  readonly everyMs?: number;
  /** Returns milliseconds. Also runs while the process is frozen. */
  readonly clock?: () => number;
}

/** The later of two clocks: the one stops while a machine sleeps, the other may be set back. */
const zero = Date.now() - performance.now();
const elapsedMs = (): number => Math.max(performance.now(), Date.now() - zero);

/** Tells the other processes of a service that this one lives, and which keys it holds. */
export class AnnouncedKeys {
  readonly #options: AnnounceOptions;
  readonly #announcement: Announcement;
  readonly #clock: () => number;
  #currentUntil = Number.NEGATIVE_INFINITY;
  #isRevived = false;
  #isFailing = false;
  #conflicts: readonly Conflict[] = [];
  #beating: Stoppable | undefined;

  private constructor(options: AnnounceOptions) {
    this.#options = options;
    this.#clock = options.clock ?? elapsedMs;
    this.#announcement = { id: randomUUID(), name: `${hostname()} (process ${process.pid})`, keys: options.keys };
  }

  /**
   * Announces the keys, and then every five seconds that the process lives. Call it before the process reads or stores anything under
   * these keys, and look for what it cannot read afterwards.
   */
  static async start(options: AnnounceOptions): Promise<AnnouncedKeys> {
    const announced = new AnnouncedKeys(options);
    const beganAt = announced.#clock();
    await announced.#announce();
    await announced.#confirm(beganAt);
    announced.#beating = repeat(() => announced.#beatOnce(), options.everyMs ?? EVERY_MS);
    return announced;
  }

  /**
   * Whether the others have known of this process without a gap. Then nothing was stored under a key that it lacks since it
   * was started or revived. False at once after it was frozen, and some 20 s after heartbeats began to fail.
   */
  isCurrent(): boolean {
    return this.#clock() < this.#currentUntil;
  }

  /** Whether the last heartbeat could not be written. */
  isFailing(): boolean {
    return this.#isFailing;
  }

  /** Ids of keys that another living process holds with other bytes. */
  conflictingIds(): number[] {
    return [...new Set(this.#conflicts.map(({ id }) => id))];
  }

  /** The process no longer counts as living. Stop what reads and stores under the keys before. */
  async stop(): Promise<void> {
    const { db, schema, log } = this.#options;
    const leave = async (): Promise<void> => {
      await this.#beating?.stop();
      await removeProcess(db, schema, this.#announcement.id);
    };
    const left = leave().catch((error: unknown) => log.warn({ err: error }, "announcement of keys not removed: it expires"));
    await withTimeout(left, STOP_MS);
  }

  async #beatOnce(): Promise<void> {
    const { db, schema, log, onRevived } = this.#options;
    try {
      // Taken before the statement: the database notes a later time.
      const beganAt = this.#clock();
      if (!(await beat(db, schema, this.#announcement.id))) {
        log.warn({}, "this process counted as ended: it announces its keys again");
        this.#isRevived = true;
        await this.#announce();
      }
      if (this.#isRevived) this.#isRevived = (await onRevived?.()) === false;
      await this.#confirm(beganAt);
      await removeEnded(db, schema);
      if (this.#isFailing) log.info({}, "keys are announced again");
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) log.warn({ err: error }, "keys cannot be announced");
      this.#isFailing = true;
    }
  }

  #announce(): Promise<void> {
    const { db, schema } = this.#options;
    return db.transaction(async (sql) => {
      await lockAnnouncement(sql, schema);
      await writeAnnouncement(sql, schema, this.#announcement);
    });
  }

  async #confirm(beganAt: number): Promise<void> {
    const { db, schema, keys, log } = this.#options;
    const others = (await livingProcesses(db, schema)).filter(({ id }) => id !== this.#announcement.id);
    const found = conflictsWith(keys, others);
    for (const { id, name } of found) {
      if (this.#conflicts.some((known) => known.id === id && known.name === name)) continue;
      log.error({ key_id: id, process: name }, "another process has a different key under this id");
    }
    this.#conflicts = found;
    this.#currentUntil = beganAt + CURRENT_SECONDS * 1_000;
  }
}

interface Conflict {
  /** The key's id. */
  readonly id: number;
  /** The other process's name. */
  readonly name: string;
}

const conflictsWith = (keys: readonly HeldKey[], others: readonly LivingProcess[]): Conflict[] =>
  others.flatMap(({ name, keys: theirs }) =>
    keys
      .filter(({ id, fingerprint }) => theirs.some((key) => key.id === id && key.fingerprint !== fingerprint))
      .map(({ id }) => ({ id, name })),
  );

/**
 * Shows the keys under which something is stored that this process cannot read: it lacks them, or has others under their ids.
 *
 * @param ids of now; of stored values only, so that the series are few
 */
export function showUnusableKeys(registry: Registry, ids: () => readonly number[]): void {
  showGauge(registry, {
    name: "unusable_keys",
    help: "1 for each key under which something is stored that this process cannot read. Absent if there is none.",
    labelNames: ["key_id"],
    collect() {
      this.reset();
      for (const id of ids()) this.set({ key_id: id }, 1);
    },
  });
}
