import { spawn } from "node:child_process";
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { createWriteStream } from "node:fs";
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { freePort } from "@brand-records/postgres/embedded";
import { eventually, killWithParent, makeOwnedFolder } from "@brand-records/testkit";
import { helmAndKubectl, type Clients } from "./helm-and-kubectl.ts";
import { KWOK, kubernetesPrograms, moduleFolder, type KubernetesProgram } from "./programs.ts";

/** A loaded machine needs most of it. */
const READY_MS_MAX = 120_000;
const ZONES = ["a", "b", "c"];
/** The default of 20 requests a second spares a cluster that others use. */
const UNTHROTTLED = ["--kube-api-qps=1000", "--kube-api-burst=1000"];
/** Default: 15s, which the tests would wait for. */
const AUTOSCALER_PERIOD = "1s";

/** A Kubernetes API server with its controllers and scheduler. Its nodes are simulated: pods become ready without running. */
export interface Cluster extends Clients {
  stop(): Promise<void>;
}

export async function startCluster(): Promise<Cluster> {
  const programs = await kubernetesPrograms();
  const folder = await makeOwnedFolder("brand-records-cluster-");
  const started: { stop(): Promise<void> }[] = [];
  const stop = async (): Promise<void> => {
    for (const program of started.toReversed()) await program.stop();
    await rm(folder, { recursive: true, force: true });
  };
  const start = (name: KubernetesProgram, args: readonly string[]): void =>
    void started.push(startProgram(programs[name], args, join(folder, name)));
  try {
    const api = await startServer(folder, start);
    const kubeconfig = join(folder, "kubeconfig");
    await writeFile(kubeconfig, kubeconfigFor(api));
    const clients = await helmAndKubectl(kubeconfig);
    const { kubectl } = clients;
    await eventually(() => kubectl(["get", "--raw", "/readyz"]), { timeoutMs: READY_MS_MAX, everyMs: 250 });
    const client = [`--kubeconfig=${kubeconfig}`, "--leader-elect=false", "--secure-port=0", ...UNTHROTTLED];
    start("kube-controller-manager", [
      ...client,
      `--service-account-private-key-file=${join(folder, "accounts.pem")}`,
      `--horizontal-pod-autoscaler-sync-period=${AUTOSCALER_PERIOD}`,
    ]);
    start("kube-scheduler", client);
    const port = await freePort();
    const kubelet = [`--server-address=127.0.0.1:${port}`, `--node-port=${port}`, "--node-ip=127.0.0.1"];
    const configuration = [...(await stages()), await logs(folder)].map((path) => `--config=${path}`);
    start("kwok", [`--kubeconfig=${kubeconfig}`, "--manage-all-nodes=true", "--cidr=10.0.0.0/16", ...kubelet, ...configuration]);
    await kubectl(["apply", "--filename=-"], ZONES.map(nodeIn).join("---\n"));
    await kubectl(["wait", "--for=condition=Ready", "nodes", "--all", `--timeout=${READY_MS_MAX / 1_000}s`]);
    return { ...clients, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The last line of every simulated Job and of `helm test`. */
export const LAST_LINE = "What a person can correct.";

/** Has simulated kubelets serve `LAST_LINE` as the log of the containers that end. @returns a file of kwok's configuration */
async function logs(folder: string): Promise<string> {
  const logsFile = join(folder, "container.log");
  await writeFile(logsFile, `2026-11-29T00:00:00.000000000Z stdout F ${LAST_LINE}\n`);
  const spec = { logs: [{ containers: ["maintenance", "migration", "test"], logsFile }] };
  const file = join(folder, "logs.yaml");
  await writeFile(file, JSON.stringify({ apiVersion: "kwok.x-k8s.io/v1alpha1", kind: "ClusterLogs", metadata: { name: "ended" }, spec }));
  return file;
}

/** How simulated nodes and pods change: pods become ready at once, those of Jobs end, and those of two tags of the image fail. */
async function stages(): Promise<string[]> {
  const folder = await moduleFolder(`${KWOK.module}@${KWOK.version}`);
  const files = await Promise.all(
    ["node/fast", "node/heartbeat", "pod/fast"].map(async (name) => {
      const path = join(folder, "kustomize/stage", name);
      return (await readdir(path))
        .filter((file) => file.endsWith(".yaml") && file !== "kustomization.yaml")
        .map((file) => join(path, file));
    }),
  );
  return [...files.flat(), join(process.cwd(), "test/chart/kubernetes/stages.yaml")];
}

interface Api {
  readonly port: number;
  readonly token: string;
}

async function startServer(folder: string, start: (name: KubernetesProgram, args: readonly string[]) => void): Promise<Api> {
  const [etcdPort, peerPort, port] = await Promise.all([freePort(), freePort(), freePort()]);
  const etcd = `http://127.0.0.1:${etcdPort}`;
  const peer = `http://127.0.0.1:${peerPort}`;
  start("etcd", [
    `--data-dir=${join(folder, "data")}`,
    `--listen-client-urls=${etcd}`,
    `--advertise-client-urls=${etcd}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=default=${peer}`,
    "--unsafe-no-fsync",
  ]);
  const token = randomBytes(16).toString("hex");
  await writeFile(join(folder, "tokens.csv"), `${token},admin,admin,system:masters\n`);
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  await writeFile(join(folder, "accounts.pem"), privateKey.export({ type: "pkcs8", format: "pem" }));
  await mkdir(join(folder, "certificates"));
  start("kube-apiserver", [
    `--etcd-servers=${etcd}`,
    "--bind-address=127.0.0.1",
    `--secure-port=${port}`,
    `--cert-dir=${join(folder, "certificates")}`,
    `--token-auth-file=${join(folder, "tokens.csv")}`,
    "--authorization-mode=RBAC",
    "--service-account-issuer=https://kubernetes.default.svc",
    `--service-account-key-file=${join(folder, "accounts.pem")}`,
    `--service-account-signing-key-file=${join(folder, "accounts.pem")}`,
    "--service-cluster-ip-range=10.1.0.0/16",
  ]);
  return { port, token };
}

/** Starts a program, whose log stands in `FOLDER/NAME.log` until the cluster stops. */
function startProgram(path: string, args: readonly string[], log: string): { stop(): Promise<void> } {
  const output = createWriteStream(`${log}.log`);
  const child = spawn(path, args, { stdio: ["ignore", "pipe", "pipe"] });
  for (const stream of [child.stdout, child.stderr]) stream.pipe(output, { end: false });
  killWithParent(child);
  const exited = new Promise<void>((resolve) => child.once("close", () => resolve()));
  return {
    async stop() {
      child.ref();
      // Nothing of it is kept.
      child.kill("SIGKILL");
      await exited;
      output.destroy();
    },
  };
}

const kubeconfigFor = ({ port, token }: Api): string => `
apiVersion: v1
kind: Config
clusters: [{ name: test, cluster: { server: "https://127.0.0.1:${port}", insecure-skip-tls-verify: true } }]
users: [{ name: test, user: { token: ${token} } }]
contexts: [{ name: test, context: { cluster: test, user: test } }]
current-context: test
`;

const nodeIn = (zone: string): string => `
apiVersion: v1
kind: Node
metadata:
  name: node-${zone}
  annotations: { kwok.x-k8s.io/node: fake }
  labels: { kubernetes.io/hostname: node-${zone}, topology.kubernetes.io/zone: ${zone} }
status:
  allocatable: { cpu: "256", memory: 1Ti, pods: "500" }
  capacity: { cpu: "256", memory: 1Ti, pods: "500" }
`;
