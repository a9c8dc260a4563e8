import type { Redis } from "ioredis";
import { RedisReplyError } from "./redis-errors.ts";

export const SLOTS = 16_384;

/** The Redis Cluster slot of a key: CRC-16/XMODEM of the part in braces if there is one, of the whole key otherwise. */
export function keySlot(key: string): number {
  return crc16(Buffer.from(hashTag(key))) % SLOTS;
}

function hashTag(key: string): string {
  const open = key.indexOf("{");
  const close = key.indexOf("}", open + 1);
  return open === -1 || close <= open + 1 ? key : key.slice(open + 1, close);
}

function crc16(bytes: Uint8Array): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 0x8000 ? ((crc << 1) ^ 0x1021) & 0xffff : (crc << 1) & 0xffff;
  }
  return crc;
}

/** Which node serves which slot of a cluster, as one node sees it. Nodes are named `host:port`. */
export interface SlotOwners {
  /** The master by slot; undefined where no node serves it. */
  readonly ownerBySlot: (string | undefined)[];
  /** Masters and replicas. */
  readonly nodes: ReadonlySet<string>;
}

type Node = readonly [host: string | null, port: number, ...unknown[]];
type Range = readonly [first: number, last: number, master: Node, ...replicas: Node[]];

/**
 * Reads the reply of CLUSTER SLOTS.
 *
 * @param sourceHost host of the node that replied; stands for any host the reply leaves empty
 */
export function slotOwnersFrom(reply: unknown, sourceHost: string): SlotOwners {
  const ownerBySlot: (string | undefined)[] = Array.from({ length: SLOTS });
  const nodes = new Set<string>();
  for (const [first, last, ...serving] of reply as Range[]) {
    const [master, ...replicas] = serving.map(([host, port]) => `${host || sourceHost}:${port}`);
    for (const node of [master, ...replicas]) if (node !== undefined) nodes.add(node);
    ownerBySlot.fill(master, first, last + 1);
  }
  return { ownerBySlot, nodes };
}

/** Names the node that serves a key's slot. The node that sent it has not executed the command. */
interface Redirection {
  /** MOVED: from now on. ASK: for this command only, while the slot is being moved. */
  readonly kind: "MOVED" | "ASK";
  readonly slot: number;
  /** `host:port`; an empty host is that of the node that sent the redirection. */
  readonly to: string;
}

const FORM = /(MOVED|ASK) (\d{1,5}) (\S*:\d{1,5})$/;

export function redirectionIn(thrown: unknown): Redirection | undefined {
  if (!(thrown instanceof RedisReplyError) || (thrown.code !== "MOVED" && thrown.code !== "ASK")) return undefined;
  const [, , slot, to] = FORM.exec(thrown.message) ?? [];
  return slot === undefined || to === undefined ? undefined : { kind: thrown.code, slot: Number(slot), to };
}

/** Sends ASKING before `command`, for a node to which a slot is being moved. Both are sent together, so no command comes between. */
export const afterAsking =
  <T>(command: (redis: Redis) => Promise<T>) =>
  async (redis: Redis): Promise<T> => {
    const [, reply] = await Promise.all([redis.call("ASKING"), command(redis)]);
    return reply;
  };
