import { spawn } from "node:child_process";
import { once } from "node:events";
import { chown, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { eventually, killWithParent } from "@brand-records/testkit";
import { FULLNAME, type KubernetesObject } from "./rendered-chart.ts";

/** The contents of Secrets and ConfigMaps, by name and key. */
export type StoredFiles = Readonly<Record<string, Readonly<Record<string, string>>>>;

export interface LocalNetwork {
  /** The address of each component's pod, of 127.0.0.0/8. */
  readonly addresses: Readonly<Record<string, string>>;
  readonly dnsPort: number;
}

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
  readonly periodSeconds: number;
  readonly failureThreshold: number;
}

interface Container {
  readonly name: string;
  readonly command: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value: string }[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
  readonly startupProbe?: Probe;
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
}

interface Volume {
  readonly name: string;
  readonly secret?: { readonly secretName: string; readonly items?: readonly { readonly key: string; readonly path: string }[] };
  readonly configMap?: { readonly name: string; readonly items?: readonly { readonly key: string; readonly path: string }[] };
}

/** A pod's own. Root alone can give them to a process. */
interface User {
  readonly runAsUser?: number;
  readonly runAsGroup?: number;
  readonly fsGroup?: number;
}

export interface LocalPod {
  readonly container: Container;
  readonly user: User;
  readonly address: string;
  /** Environment of the container, with paths and addresses of this machine. */
  readonly env: Readonly<Record<string, string>>;
}

/** grpc-js asks the DNS server that a target names only with this. */
const ASK_NAME_SERVER = { GRPC_NODE_USE_ALTERNATIVE_RESOLVER: "true" };

/**
 * Prepares a pod's container for this machine, as a kubelet does for a node: writes its volumes into `folder`. Values of the render stay
 * as they are, but for paths of mounts, the address to listen on (0.0.0.0) and names of Services, for which the network is not there.
 */
export async function prepare(pod: KubernetesObject, folder: string, stored: StoredFiles, network: LocalNetwork): Promise<LocalPod> {
  const spec = pod["spec"] as { containers: Container[]; volumes?: Volume[]; securityContext?: User };
  const user = spec.securityContext ?? {};
  const [container] = spec.containers;
  if (container === undefined) throw new Error(`${pod.metadata.name} has no container`);
  for (const { name, mountPath } of container.volumeMounts ?? []) {
    const volume = spec.volumes?.find((it) => it.name === name);
    if (volume === undefined) throw new Error(`${container.name} mounts ${name}, which is no volume`);
    await writeVolume(volume, join(folder, mountPath), stored, user);
  }
  const component = pod.metadata.labels?.["app.kubernetes.io/component"] ?? "";
  const address = network.addresses[component] ?? "127.0.0.1";
  const mounts = (container.volumeMounts ?? []).map(({ mountPath }) => mountPath);
  const localize = (value: string): string => {
    if (mounts.some((path) => value.startsWith(`${path}/`))) return join(folder, value);
    return localizeAddresses(value, address, network);
  };
  const env = Object.fromEntries((container.env ?? []).map(({ name, value }) => [name, localize(value)]));
  return { container, user, address, env: { ...env, ...ASK_NAME_SERVER } };
}

/** gRPC targets keep their names, which certificates must match, and ask the test's DNS server. */
export function localizeAddresses(value: string, own: string, { addresses, dnsPort }: LocalNetwork): string {
  if (value === "0.0.0.0") return own;
  if (value.startsWith("dns:///")) return value.replace("dns:///", `dns://127.0.0.1:${dnsPort}/`);
  return value.replaceAll(new RegExp(`\\b${FULLNAME}-([a-z]+)(?:-admin)?:`, "g"), (name, component: string) =>
    addresses[component] === undefined ? name : `${addresses[component]}:`,
  );
}

/** As a kubelet does: files belong to root and to the pod's fsGroup. */
async function writeVolume({ secret, configMap }: Volume, path: string, stored: StoredFiles, { fsGroup = 0 }: User): Promise<void> {
  const name = secret?.secretName ?? configMap?.name ?? "";
  const content = stored[name];
  if (content === undefined) throw new Error(`the Secret or ConfigMap ${name} does not exist`);
  const items = secret?.items ?? configMap?.items ?? Object.keys(content).map((key) => ({ key, path: key }));
  await mkdir(path, { recursive: true });
  for (const item of items) {
    const text = content[item.key];
    if (text === undefined) throw new Error(`${name} has no key ${item.key}`);
    await writeFile(join(path, item.path), text, { mode: 0o440 });
    if (isRoot) await chown(join(path, item.path), 0, fsGroup);
  }
}

export interface RunningPod extends LocalPod {
  output(): string;
  /** Resolves with the exit code when it has ended. */
  readonly exited: Promise<number | null>;
  /** Sends SIGTERM and returns the exit code. */
  stop(): Promise<number | null>;
}

const isRoot = process.getuid?.() === 0;

/** The group of images on OpenShift, and of users without one. */
const ROOT_GROUP = 0;

/** Starts the container's command with its environment and nothing else, as its user if this is root. The image's folder is laid out as the repository. */
export function run(pod: LocalPod, root: string): RunningPod {
  const [command = "", ...args] = pod.container.command;
  if (command !== "node") throw new Error(`${pod.container.name}: the command must be node, which the image has`);
  const { runAsUser, runAsGroup = ROOT_GROUP, fsGroup } = pod.user;
  const identity = isRoot && runAsUser !== undefined ? { uid: runAsUser, gid: fsGroup ?? runAsGroup } : {};
  const child = spawn(process.execPath, args, { cwd: root, env: pod.env, stdio: ["ignore", "pipe", "pipe"], ...identity });
  killWithParent(child);
  const chunks: string[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text: string) => void chunks.push(text));
  const exited = once(child, "close").then(([code]) => code as number | null);
  return {
    ...pod,
    exited,
    output: () => chunks.join(""),
    async stop() {
      child.ref();
      child.kill("SIGTERM");
      return exited;
    },
  };
}

/** Waits for each probe of the container as the kubelet does: at most as long as it allows the startup. */
export async function becomeReady({ container, address, output }: RunningPod): Promise<void> {
  const { startupProbe, livenessProbe, readinessProbe } = container;
  for (const probe of [startupProbe, livenessProbe, readinessProbe]) {
    if (probe === undefined) throw new Error(`${container.name} lacks a probe`);
    const port = container.ports?.find(({ name }) => name === probe.httpGet.port)?.containerPort;
    const url = `http://${address}:${port}${probe.httpGet.path}`;
    const timeoutMs = (startupProbe?.failureThreshold ?? 1) * (startupProbe?.periodSeconds ?? 1) * 1_000;
    await eventually(
      async () => {
        const response = await fetch(url, { signal: AbortSignal.timeout(5_000) });
        const body = await response.text();
        if (response.status !== 200) throw new Error(`${container.name}: ${url} responds with ${response.status}: ${body}`);
      },
      { timeoutMs, everyMs: 100 },
    ).catch((error: unknown) => {
      throw new Error(`${String(error)}\n${output().slice(-4_000)}`, { cause: error });
    });
  }
}
