import { SLOTS } from "./key-slot.ts";

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
