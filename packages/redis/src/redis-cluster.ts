import type { RedisAddress } from "@brand-records/config";
import type { Redis } from "ioredis";
import { GuardedRedis } from "./guarded-redis.ts";
import { afterAsking, keySlot, redirectionIn, type SlotOwners, slotOwnersFrom } from "./cluster-slots.ts";
import type { RedisClient, RedisClientOptions } from "./redis-client.ts";
import { RedisUnavailable } from "./redis-errors.ts";

/** Each may take a command timeout. A slot that changes its owner while being moved causes two; more mean that the nodes disagree. */
const REDIRECTIONS_MAX = 2;
/** Pause while a master is down. Another node takes over its slots within seconds; this is the delay until we notice. */
const REFRESH_MS_WHILE_DOWN = 100;
/** MOVED reports other changes. This finds nodes that joined, one of which may soon be the only one left to query. */
const REFRESH_MS = 10_000;
const FIRST_CONTACT_MS_MAX = 2_000;

/**
 * A Redis Cluster, with a guarded connection to each node: if a master fails, its keys fail with RedisUnavailable and no others.
 *
 * Replaces ioredis' Cluster, whose connections queue commands while they connect, whatever `enableOfflineQueue` is, so a command that has
 * timed out may be executed seconds later; it repeats commands whose connection was lost; its retries wait for 100 ms where we have
 * 20; and it does not report which node is down.
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
      if (owner === undefined || node === undefined) throw new RedisUnavailable(new Error("no known node serves the key"));
      try {
        return await node.run(guarded);
      } catch (error) {
        const redirection = redirectionIn(error);
        if (redirection === undefined || redirections === REDIRECTIONS_MAX) throw error;
        // The node refused the command without executing it, so nothing is executed twice.
        owner = redirection.to.startsWith(":") ? `${hostOf(owner)}${redirection.to}` : redirection.to;
        guarded = redirection.kind === "ASK" ? afterAsking(command) : command;
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
    const { log, commandTimeoutMs, tlsCa } = this.#options;
    const target = {
      host: hostOf(name),
      port: portOf(name),
      ...(username !== undefined && { username }),
      ...(password !== undefined && { password }),
      ...(tls && { tls: {} }),
    };
    let wasUp = false;
    const node = new GuardedRedis(target, {
      tlsCa,
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
        this.#onNodeChange(cause);
      },
    });
    this.#nodes.set(name, node);
  }

  /** A node went up or down: the owners of its slots may have changed. */
  #onNodeChange(cause: unknown): void {
    this.#settle(cause);
    if (!this.isUp) this.#refreshIn(0);
  }

  #move(slot: number, owner: string): void {
    this.#open(owner);
    if (this.#owners.ownerBySlot[slot] !== owner) {
      this.#owners.ownerBySlot[slot] = owner;
      this.#options.onPossibleLoss?.();
    }
    this.#refreshIn(0);
  }

  #refreshIn(ms: number): void {
    if (this.#isStopped || this.#isRefreshing) return;
    clearTimeout(this.#refreshTimer);
    this.#refreshTimer = setTimeout(() => void this.#refresh(), ms);
  }

  async #refresh(): Promise<void> {
    this.#isRefreshing = true;
    const up = [...this.#nodes].filter(([, node]) => node.isUp);
    // No known node is up: the nodes at the configured addresses may know others.
    if (up.length === 0) this.#openSeeds();
    const first = Math.floor(Math.random() * up.length);
    for (const [name, node] of [...up.slice(first), ...up.slice(0, first)]) {
      try {
        this.#apply(slotOwnersFrom(await node.run((redis) => redis.cluster("SLOTS")), hostOf(name)));
        break;
      } catch (error) {
        // Tries the next node. If all fail, this becomes the cause of the outage.
        this.#refreshFailure = error;
      }
    }
    this.#isRefreshing = false;
    this.#refreshIn(this.isUp ? REFRESH_MS : REFRESH_MS_WHILE_DOWN);
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
    this.#settle(new Error("no reachable node serves a part of the cluster's keys"));
  }

  /** Up if the owner of every slot is up. First reported as down only when the first contact ends. */
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
