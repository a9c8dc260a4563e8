import { SLOTS } from "./key-slot.ts";

/** Who serves what in a cluster, as one node saw it. Nodes are named `host:port`. */
export interface SlotOwners {
  /** By slot; undefined where nobody serves it. */
  readonly ownerBySlot: (string | undefined)[];
  /** Masters and replicas. */
  readonly nodes: ReadonlySet<string>;
}

type Node = readonly [host: string | null, port: number, ...unknown[]];
type Range = readonly [first: number, last: number, master: Node, ...replicas: Node[]];

/**
 * Reads the reply of CLUSTER SLOTS.
 *
 * @param askedHost stands for the host of a node that does not know its own
 */
export function slotOwnersFrom(reply: unknown, askedHost: string): SlotOwners {
  const ownerBySlot: (string | undefined)[] = Array.from({ length: SLOTS });
  const nodes = new Set<string>();
  for (const [first, last, ...serving] of reply as Range[]) {
    const [master, ...replicas] = serving.map(([host, port]) => `${host || askedHost}:${port}`);
    for (const node of [master, ...replicas]) if (node !== undefined) nodes.add(node);
    ownerBySlot.fill(master, first, last + 1);
  }
  return { ownerBySlot, nodes };
}
