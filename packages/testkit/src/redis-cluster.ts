import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "@brand-records/postgres/embedded";
import { sendRedisCommand } from "./redis-command.ts";
import { eventually } from "./eventually.ts";
import { type RedisServer, startRedisServer } from "./redis-server.ts";

const SLOTS = 16_384;

interface RedisClusterOptions {
  /** Default: 3. */
  readonly masters?: number;
  /** Gives each master a replica, which takes over when the master fails. Default: false. */
  readonly replicas?: boolean;
  /** A node that does not respond for this long counts as failed. Default: 500. */
  readonly nodeTimeoutMs?: number;
}

/** A Redis Cluster of real processes. After a failover, only the cluster itself knows which nodes are masters. */
export interface RedisClusterServers {
  /** Names every node. */
  readonly url: string;
  /** Sorted by the slots that they served at the start. */
  readonly masters: readonly RedisServer[];
  /** `replicas[i]` copies `masters[i]`. */
  readonly replicas: readonly RedisServer[];
  stop(): Promise<void>;
}

/**
 * Starts a cluster and resolves when each node reports it complete and each replica is in sync. A failed shard leaves the
 * others in service (cluster-require-full-coverage no).
 */
export async function startRedisCluster({
  masters: count = 3,
  replicas: hasReplicas = false,
  nodeTimeoutMs = 500,
}: RedisClusterOptions = {}): Promise<RedisClusterServers> {
  const directory = await mkdtemp(join(tmpdir(), "redis-cluster-"));
  const startNode = async (): Promise<RedisServer> => {
    const busPort = String(await freePort());
    return startRedisServer({
      "cluster-enabled": "yes",
      // The default is 10,000 above the port, which may be taken.
      "cluster-port": busPort,
      "cluster-node-timeout": String(nodeTimeoutMs),
      "cluster-require-full-coverage": "no",
      dir: directory,
      "cluster-config-file": `${busPort}.conf`,
      // A replica writes its copy to this file. A node that starts with another's file claims the slots of the keys in it.
      dbfilename: `${busPort}.rdb`,
      "repl-diskless-sync-delay": "0",
    });
  };
  const nodes = await Promise.all(Array.from({ length: hasReplicas ? count * 2 : count }, startNode));
  const [masters, replicas] = [nodes.slice(0, count), nodes.slice(count)];
  const stop = async (): Promise<void> => {
    await Promise.all(nodes.map((node) => node.stop()));
    await rm(directory, { recursive: true, force: true });
  };
  try {
    await form(masters, replicas);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    url: `redis+cluster://${nodes.map((node) => new URL(node.url).host).join(",")}`,
    masters,
    replicas,
    stop,
  };
}

async function form(masters: readonly RedisServer[], replicas: readonly RedisServer[]): Promise<void> {
  const nodes = [...masters, ...replicas];
  for (const [index, master] of masters.entries()) {
    const first = Math.floor((index * SLOTS) / masters.length);
    const last = Math.floor(((index + 1) * SLOTS) / masters.length) - 1;
    await sendRedisCommand(master.url, `CLUSTER ADDSLOTSRANGE ${first} ${last}`);
    await sendRedisCommand(master.url, `CLUSTER SET-CONFIG-EPOCH ${index + 1}`);
  }
  const [seed] = masters;
  for (const node of nodes.slice(1))
    await sendRedisCommand(node.url, `CLUSTER MEET 127.0.0.1 ${new URL(seed!.url).port} ${await busPortOf(seed!)}`);
  for (const [index, replica] of replicas.entries()) {
    const id = await sendRedisCommand(masters[index]!.url, "CLUSTER MYID");
    await eventually(() => sendRedisCommand(replica.url, `CLUSTER REPLICATE ${id}`));
  }
  await eventually(
    async () => {
      for (const node of nodes) {
        const info = await sendRedisCommand(node.url, "CLUSTER INFO");
        if (!info.includes("cluster_state:ok") || !info.includes(`cluster_known_nodes:${nodes.length}`)) throw new Error(info);
      }
      for (const replica of replicas) {
        const info = await sendRedisCommand(replica.url, "INFO replication");
        if (!info.includes("master_link_status:up")) throw new Error(info);
      }
    },
    { timeoutMs: 30_000 },
  );
}

const busPortOf = async (node: RedisServer): Promise<string> => /@(\d+)/.exec(await sendRedisCommand(node.url, "CLUSTER NODES"))?.[1] ?? "";
