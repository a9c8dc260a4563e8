import type { RedisAddress } from "@brand-records/config";
import type { Redis } from "ioredis";
import { GuardedRedis } from "./guarded-redis.ts";
import { keySlot } from "./key-slot.ts";
import { asking, redirectionIn } from "./redirection.ts";
import type { RedisClient, RedisClientOptions } from "./redis-client.ts";
import { RedisUnavailable } from "./redis-unavailable.ts";
import { slotOwnersFrom, type SlotOwners } from "./slot-owners.ts";

/** Each may take a command time-out. Two are met when a slot moves while it is being moved; more is a cluster that disagrees. */
const REDIRECTIONS_MAX = 2;
/** While a master is down: another node then takes over its slots within seconds, and this is how late we notice. */
const REFRESH_MS_WHILE_DOWN = 100;
/** Otherwise MOVED tells us; this is for nodes that joined, of which one may be the last to ask. */
const REFRESH_MS = 10_000;
const FIRST_CONTACT_MS_MAX = 2_000;

/**
 * A Redis Cluster, with a guarded connection to each of its nodes: a master that fails sends its own keys to RedisUnavailable and no
 * others.
 *
 * Not ioredis' Cluster: its connections queue commands while they connect, whatever `enableOfflineQueue` says, so what has timed out
 * may be executed seconds later; it repeats commands whose connection was lost; its retries wait for 100 ms where we have 20; and
 * it does not tell which node is down.
 */
export class RedisCluster implements RedisClient {
  readonly #address: RedisAddress;
  readonly #options: RedisClientOptions;
  readonly #nodes = new Map<string, GuardedRedis>();
  readonly #firstContact = Promise.withResolvers<void>();
  readonly #firstContactTimer: NodeJS.Timeout;
  #owners: SlotOwners = { ownerBySlot: [], nodes: new Set() };
  #state: "unknown" | "up" | "down" = "unknown";
  #isRefreshing = false;
  #refreshFailure: unknown = new Error("no node of the cluster can be reached");
  #refreshTimer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(address: RedisAddress, options: RedisClientOptions = {}) {
    this.#address = address;
    this.#options = options;
    this.#openSeeds();
    this.#firstContactTimer = setTimeout(() => this.#change("down", this.#refreshFailure), FIRST_CONTACT_MS_MAX);
  }

  get isUp(): boolean {
    return this.#state === "up";
  }

  get firstContact(): Promise<void> {
    return this.#firstContact.promise;
  }

  async run<T>(key: string, command: (redis: Redis) => Promise<T>): Promise<T> {
    let owner = this.#owners.ownerBySlot[keySlot(key)];
    let guarded = command;
    for (let redirections = 0; ; redirections += 1) {
      const node = owner === undefined ? undefined : this.#nodes.get(owner);
      if (owner === undefined || node === undefined) throw new RedisUnavailable(new Error("no node is known for the key"));
      try {
        return await node.run(guarded);
      } catch (error) {
        const redirection = redirectionIn(error);
        if (redirection === undefined || redirections === REDIRECTIONS_MAX) throw error;
        // Refused rather than executed, so this sends nothing twice.
        owner = redirection.to.startsWith(":") ? `${hostOf(owner)}${redirection.to}` : redirection.to;
        guarded = redirection.kind === "ASK" ? asking(command) : command;
        if (redirection.kind === "MOVED") this.#move(redirection.slot, owner);
        else this.#open(owner);
      }
    }
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#refreshTimer);
    clearTimeout(this.#firstContactTimer);
    this.#firstContact.resolve();
    this.#state = "down";
    await Promise.all([...this.#nodes.values()].map((node) => node.stop()));
  }

  #openSeeds(): void {
    for (const { host, port } of this.#address.hosts) this.#open(`${host}:${port}`);
  }

  #open(name: string): void {
    if (this.#isStopped || this.#nodes.has(name)) return;
    const { username, password, tls } = this.#address;
    const { log, commandTimeoutMs } = this.#options;
    const target = {
      host: hostOf(name),
      port: portOf(name),
      ...(username !== undefined && { username }),
      ...(password !== undefined && { password }),
      ...(tls && { tls: {} }),
    };
    let wasUp = false;
    const node = new GuardedRedis(target, {
      ...(commandTimeoutMs !== undefined && { commandTimeoutMs }),
      ...(log !== undefined && {
        log: {
          info: (fields, message) => log.info({ ...fields, redis_node: name }, message),
          warn: (fields, message) => log.warn({ ...fields, redis_node: name }, message),
        },
      }),
      onStateChange: (isUp, cause) => {
        if (isUp && wasUp) this.#options.onPossibleLoss?.();
        wasUp ||= isUp;
        this.#nodeChanged(cause);
      },
    });
    this.#nodes.set(name, node);
  }

  /** A node came or went: who serves what has perhaps changed with it. */
  #nodeChanged(cause: unknown): void {
    this.#settle(cause);
    if (!this.isUp) this.#refreshWithin(0);
  }

  #move(slot: number, owner: string): void {
    this.#open(owner);
    if (this.#owners.ownerBySlot[slot] !== owner) {
      this.#owners.ownerBySlot[slot] = owner;
      this.#options.onPossibleLoss?.();
    }
    this.#refreshWithin(0);
  }

  #refreshWithin(ms: number): void {
    if (this.#isStopped || this.#isRefreshing) return;
    clearTimeout(this.#refreshTimer);
    this.#refreshTimer = setTimeout(() => void this.#refresh(), ms);
  }

  async #refresh(): Promise<void> {
    this.#isRefreshing = true;
    const up = [...this.#nodes].filter(([, node]) => node.isUp);
    // The nodes that we know are gone: whoever is at the addresses in the setting may know others.
    if (up.length === 0) this.#openSeeds();
    const first = Math.floor(Math.random() * up.length);
    for (const [name, node] of [...up.slice(first), ...up.slice(0, first)]) {
      try {
        this.#apply(slotOwnersFrom(await node.run((redis) => redis.cluster("SLOTS")), hostOf(name)));
        break;
      } catch (error) {
        // The next one is asked. If all of them fail, the state says so with this.
        this.#refreshFailure = error;
      }
    }
    this.#isRefreshing = false;
    this.#refreshWithin(this.isUp ? REFRESH_MS : REFRESH_MS_WHILE_DOWN);
  }

  #apply(owners: SlotOwners): void {
    if (this.#isStopped || owners.nodes.size === 0) return;
    const before = this.#owners.ownerBySlot;
    const hasMoved = owners.ownerBySlot.some((owner, slot) => before[slot] !== undefined && owner !== before[slot]);
    this.#owners = owners;
    for (const name of owners.nodes) this.#open(name);
    for (const [name, node] of this.#nodes) {
      if (owners.nodes.has(name)) continue;
      this.#nodes.delete(name);
      void node.stop();
    }
    if (hasMoved) this.#options.onPossibleLoss?.();
    this.#settle(new Error("a part of the cluster's keys is served by no node that answers"));
  }

  /** Up if each slot has an owner that is. Down for the first time only at the end of the first contact. */
  #settle(cause: unknown): void {
    const owners = [...new Set(this.#owners.ownerBySlot)].map((name) => (name === undefined ? undefined : this.#nodes.get(name)));
    if (owners.length > 0 && owners.every((node) => node?.isUp === true)) this.#change("up");
    else if (this.#state !== "unknown") this.#change("down", cause);
  }

  #change(state: "up" | "down", cause?: unknown): void {
    if (this.#isStopped || this.#state === state) return;
    this.#state = state;
    clearTimeout(this.#firstContactTimer);
    this.#options.onStateChange?.(state === "up", cause);
    this.#firstContact.resolve();
  }
}

const hostOf = (name: string): string => name.slice(0, name.lastIndexOf(":"));
const portOf = (name: string): number => Number(name.slice(name.lastIndexOf(":") + 1));
