import { readFileSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "@brand-records/testkit";
import { parse } from "yaml";
import { findCommands } from "../docs/find-commands.js";
import { LAST_LINE, startCluster, type Cluster } from "./kubernetes/cluster.ts";
import { installCustomResources } from "./kubernetes/crds.ts";
import {
  CHART,
  FULLNAME,
  objectsOf,
  RELEASE,
  renderText,
  VALUE_FILES,
  valuesOf,
  type KubernetesObject,
  type ValueFile,
} from "./rendered-chart.ts";

/** The first run builds the API server. */
const BUILD_MS_MAX = 40 * 60_000;
/** The chart's default image, and one that is not it. */
const PRESENT = (parse(readFileSync(join(CHART, "Chart.yaml"), "utf8")) as { appVersion: string }).appVersion;
const NEXT = `${PRESENT}-next`;
const WITH_DATABASE = ["accounts", "plans", "records", "webhook"];
const INSTALL_MS_MAX = 180_000;
jest.setTimeout(2 * INSTALL_MS_MAX);
const ADDITIONS = join(process.cwd(), "test/chart/values-additions.yaml");

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster();
  await installCustomResources(cluster.kubectl);
  for (const file of VALUE_FILES) {
    await cluster.kubectl(["create", "namespace", file]);
    await cluster.kubectl(["label", "namespace", file, "pod-security.kubernetes.io/enforce=restricted"]);
    // Pods are refused before its controller has made it.
    await cluster.kubectl(["wait", "--for=create", "serviceaccount/default", "--namespace", file, "--timeout=60s"]);
  }
}, BUILD_MS_MAX);
afterAll(() => cluster?.stop());

const helm = (file: ValueFile, ...args: string[]): Promise<string> => cluster.helm([...args, "--namespace", file]);
const install = (file: ValueFile, ...args: string[]): Promise<string> => helm(file, "install", RELEASE, CHART, ...valuesOf(file), ...args);
const get = async (file: ValueFile, kind: string): Promise<KubernetesObject[]> =>
  (JSON.parse(await cluster.kubectl(["get", kind, "--namespace", file, "--output=json"])) as { items: KubernetesObject[] }).items;
const rolledOut = (file: ValueFile): Promise<string> =>
  cluster.kubectl([
    "rollout",
    "status",
    "deployment",
    `--selector=app.kubernetes.io/instance=${RELEASE}`,
    "--namespace",
    file,
    "--timeout=150s",
  ]);

/** Returns the replicas of each Deployment, when the autoscalers have set theirs and all are ready. */
function settledReplicas(file: ValueFile): Promise<Map<string, number>> {
  return eventually(
    async () => {
      const autoscalers = await get(file, "horizontalpodautoscalers");
      const least = new Map(autoscalers.map(({ spec }) => [spec.scaleTargetRef.name as string, spec.minReplicas as number]));
      const deployments = await get(file, "deployments");
      for (const { metadata, spec, status } of deployments) {
        expect([metadata.name, status.availableReplicas]).toEqual([metadata.name, spec.replicas]);
        expect([metadata.name, spec.replicas >= (least.get(metadata.name) ?? 0)]).toEqual([metadata.name, true]);
      }
      return new Map(deployments.map(({ metadata, spec }) => [metadata.name, spec.replicas as number]));
    },
    { timeoutMs: INSTALL_MS_MAX, everyMs: 500 },
  );
}

/** Installs the chart and waits for its processes. */
async function installed(file: ValueFile): Promise<void> {
  const text = await renderText(["--namespace", file, ...valuesOf(file)]);
  await cluster.kubectl(["apply", "--dry-run=server", "--validate=strict", "--namespace", file, "--filename=-"], text);
  await install(file);
  await rolledOut(file);
  const deployments = await get(file, "deployments");
  expect(deployments.map(({ metadata }) => metadata.name)).toEqual(
    objectsOf(text)
      .filter(({ kind }) => kind === "Deployment")
      .map(({ metadata }) => metadata.name)
      .toSorted(),
  );
  await settledReplicas(file);
}

it(
  "the chart is accepted without unknown fields with each file of values, and every Deployment becomes ready in a restricted namespace",
  () => Promise.all(VALUE_FILES.map(installed)),
  INSTALL_MS_MAX,
);

describe("a service with an autoscaler", () => {
  const NAME = `${FULLNAME}-records`;
  const AUTOSCALED = ["--set", "records.autoscaling.enabled=true,records.autoscaling.minReplicas=2,records.autoscaling.maxReplicas=4"];
  const upgrade = (...args: string[]): Promise<string> => helm("standard", "upgrade", RELEASE, CHART, ...valuesOf("standard"), ...args);
  const replicas = async (): Promise<number> =>
    (await get("standard", "deployments")).find(({ metadata }) => metadata.name === NAME)?.["spec"].replicas as number;
  /** Sizes to which its one ReplicaSet was scaled down, however shortly. */
  const scaledDownTo = async (): Promise<string[]> =>
    (await get("standard", "events"))
      .filter(({ involvedObject, reason }) => involvedObject.name === NAME && reason === "ScalingReplicaSet")
      .flatMap(({ message }) => /^Scaled down .* to (\d+)$/.exec(message as string)?.[1] ?? []);
  /** Has the autoscaler make three, as by load, of which the cluster has none. Its minimum is as it was, or the next upgrade would conflict. */
  const scaleToThree = async (): Promise<void> => {
    for (const minReplicas of [3, 2]) {
      const patch = JSON.stringify({ spec: { minReplicas } });
      await cluster.kubectl(["patch", "horizontalpodautoscaler", NAME, "--namespace=standard", "--type=merge", `--patch=${patch}`]);
      await eventually(async () => expect(await replicas()).toBe(3), { timeoutMs: INSTALL_MS_MAX, everyMs: 500 });
    }
  };

  it("keeps its processes when the autoscaler is switched on, and while it has not acted", async () => {
    await settledReplicas("standard");
    for (let times = 0; times < 2; times += 1) {
      await upgrade(...AUTOSCALED);
      expect(await replicas()).toBe(2);
    }
    await settledReplicas("standard");
    expect(await scaledDownTo()).toEqual([]);
  });

  it("keeps those of the autoscaler at an upgrade, is stopped by --force-conflicts alone, and starts with the fewest that it may have", async () => {
    await scaleToThree();
    await upgrade(...AUTOSCALED, "--set-string", "records.podLabels.upgraded=yes");
    expect(await replicas()).toBe(3);
    const stopped = [...AUTOSCALED, "--set", "records.replicas=0"];
    await expect(upgrade(...stopped)).rejects.toThrow(/conflict with "kube-controller-manager".*spec\.replicas/s);
    await upgrade(...stopped, "--force-conflicts");
    expect(await replicas()).toBe(0);
    expect((await get("standard", "horizontalpodautoscalers")).map(({ metadata }) => metadata.name)).not.toContain(NAME);
    await upgrade(...AUTOSCALED);
    expect(await replicas()).toBe(2);
  });

  it("is rolled back by --force-conflicts, to the number of processes that the revision names", async () => {
    await scaleToThree();
    await expect(helm("standard", "rollback", RELEASE, "1")).rejects.toThrow(/conflict with "kube-controller-manager"/);
    await helm("standard", "rollback", RELEASE, "1", "--force-conflicts");
    expect(await replicas()).toBe(2);
    await rolledOut("standard");
    await settledReplicas("standard");
  });
});

describe("a release", () => {
  const imagesOf = async (): Promise<string[]> => [
    ...new Set((await get("standard", "deployments")).map(({ spec }) => spec.template.spec.containers[0].image as string)),
  ];

  it("is upgraded without a moment with fewer ready processes, and rolled back", async () => {
    const before = await settledReplicas("standard");
    await helm("standard", "upgrade", RELEASE, CHART, ...valuesOf("standard"), "--set-string", `image.tag=${NEXT}`);
    const fewest = new Map(before);
    await eventually(
      async () => {
        const deployments = await get("standard", "deployments");
        for (const { metadata, status } of deployments) {
          fewest.set(metadata.name, Math.min(fewest.get(metadata.name) ?? 0, status.availableReplicas ?? 0));
        }
        for (const { metadata, spec, status } of deployments) {
          expect([metadata.name, status.observedGeneration, status.updatedReplicas, status.replicas]).toEqual([
            metadata.name,
            (metadata as { generation?: number }).generation,
            spec.replicas,
            spec.replicas,
          ]);
        }
      },
      { timeoutMs: INSTALL_MS_MAX, everyMs: 200 },
    );
    // brandctl's pod serves nothing.
    for (const [name, replicas] of before) if (!name.endsWith("-operator")) expect([name, fewest.get(name)]).toEqual([name, replicas]);
    expect(await imagesOf()).toEqual([`brand-records:${NEXT}`]);
    await helm("standard", "rollback", RELEASE, "1");
    await rolledOut("standard");
    expect(await imagesOf()).toEqual([`brand-records:${PRESENT}`]);
  });

  it("is rolled back to its first revision when a migration has failed", async () => {
    // As ten minutes after the install.
    const patch = JSON.stringify({ spec: { ttlSecondsAfterFinished: 0 } });
    for (const { metadata } of await get("large", "jobs")) {
      await cluster.kubectl(["patch", "job", metadata.name, "--namespace=large", "--type=merge", `--patch=${patch}`]);
    }
    await eventually(async () => expect(await get("large", "jobs")).toEqual([]), { timeoutMs: 60_000, everyMs: 500 });
    // The namespace admits no such pod, so the first migration goes on until Helm gives up.
    const refused = ["--set", "containerSecurityContext.allowPrivilegeEscalation=true", "--timeout", "5s"];
    await expect(helm("large", "upgrade", RELEASE, CHART, ...valuesOf("large"), ...refused)).rejects.toThrow(/pre-upgrade hooks failed/);
    expect(await get("large", "jobs")).toHaveLength(1);
    await helm("large", "rollback", RELEASE, "1");
    await rolledOut("large");
  });

  it("migrates before an upgrade's first process starts", async () => {
    await helm("large", "upgrade", RELEASE, CHART, ...valuesOf("large"), "--set-string", `image.tag=${NEXT}`);
    // Jobs of the install are gone, those of the hook too: it deletes them when they have succeeded.
    expect(await get("large", "jobs")).toEqual([]);
    const events = JSON.parse(await cluster.kubectl(["get", "events", "--namespace", "large", "--output=json"])) as {
      items: KubernetesObject[];
    };
    const completed = events.items
      .filter(({ reason }) => reason === "Completed")
      .map(({ involvedObject }) => involvedObject.name as string);
    expect(new Set(completed)).toEqual(
      new Set(["migration", "upgrade"].flatMap((kind) => WITH_DATABASE.map((name) => `${FULLNAME}-${name}-${kind}`))),
    );
  });

  it("goes without remains", async () => {
    await helm("laptop", "uninstall", RELEASE);
    await eventually(
      async () =>
        expect(await get("laptop", "all,networkpolicies,serviceaccounts,certificates")).toEqual([
          expect.objectContaining({ kind: "ServiceAccount", metadata: expect.objectContaining({ name: "default" }) as object }),
        ]),
      { timeoutMs: 60_000, everyMs: 500 },
    );
  });
});

describe("additions of a platform team", () => {
  it("are accepted without unknown fields", async () => {
    await cluster.kubectl(["create", "priorityclass", "platform", "--value=1000"]);
    const text = await renderText(["--namespace", "laptop", "--values", ADDITIONS]);
    await cluster.kubectl(["apply", "--dry-run=server", "--validate=strict", "--namespace=laptop", "--filename=-"], text);
  });

  it("leave pods in a restricted namespace, under the user that the cluster gives", async () => {
    const pods = objectsOf(await renderText(["--values", ADDITIONS])).filter(({ kind }) => kind === "Deployment" || kind === "Job");
    expect(pods.length).toBeGreaterThan(7);
    for (const { metadata, spec } of pods) {
      const pod = structuredClone(spec.template.spec) as Record<string, object>;
      pod["securityContext"] = { ...pod["securityContext"], runAsUser: 1_000_680_000, fsGroup: 1_000_680_000 };
      // Neither its ServiceAccount nor its priority class is in this namespace.
      const trial = { apiVersion: "v1", kind: "Pod", metadata: { name: metadata.name }, spec: { ...pod, serviceAccountName: "default" } };
      const text = JSON.stringify(trial, (key, value: unknown) => (key === "priorityClassName" ? undefined : value));
      const args = ["create", "--dry-run=server", "--validate=strict", "--namespace=laptop", "--filename=-"];
      await expect(cluster.kubectl(args, text)).resolves.toContain("created");
    }
  });
});

describe("maintenance", () => {
  it("has Jobs that are accepted without unknown fields", async () => {
    const jobs = [
      "maintenance.program=migrate,maintenance.service=records",
      "maintenance.program=after-restore,maintenance.service=accounts,accounts.replicas=0,maintenance.claim=restore",
      "maintenance.program=re-encrypt,maintenance.service=webhook",
      "maintenance.program=audit-export,maintenance.claim=audit",
    ].map(async (values) => {
      const text = await renderText(["--namespace", "laptop", ...valuesOf("large"), "--set", values]);
      await cluster.kubectl(["apply", "--dry-run=server", "--validate=strict", "--namespace=laptop", "--filename=-"], text);
    });
    await Promise.all(jobs);
  });
});

describe("the restricted namespace", () => {
  const podOf = async (weaken: (pod: KubernetesObject) => void): Promise<string> => {
    const deployment = objectsOf(await renderText(valuesOf("laptop"))).find(({ kind }) => kind === "Deployment") as KubernetesObject;
    const { spec } = deployment["spec"].template as { spec: Record<string, unknown> };
    // ServiceAccounts of the release are not in this namespace any more.
    const pod: KubernetesObject = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "trial" },
      spec: { ...spec, serviceAccountName: "default", topologySpreadConstraints: [] },
    };
    weaken(pod);
    return JSON.stringify(pod);
  };
  const create = (pod: string): Promise<string> =>
    cluster.kubectl(["create", "--dry-run=server", "--namespace=laptop", "--filename=-"], pod);

  it("takes the chart's pods", async () => {
    await expect(create(await podOf(() => {}))).resolves.toContain("pod/trial created");
  });

  it.each<[string, (pod: KubernetesObject) => void]>([
    ["runAsNonRoot", (pod) => delete pod["spec"].securityContext.runAsNonRoot],
    ["seccompProfile", (pod) => delete pod["spec"].securityContext.seccompProfile],
    ["capabilities", (pod) => delete pod["spec"].containers[0].securityContext.capabilities],
    ["allowPrivilegeEscalation", (pod) => delete pod["spec"].containers[0].securityContext.allowPrivilegeEscalation],
  ])("refuses them without %s, so each is needed", async (name, weaken) => {
    await expect(create(await podOf(weaken))).rejects.toThrow(new RegExp(`violates PodSecurity "restricted.*${name}`));
  });
});

/** The reader's own, on a volume of the cluster, which has no provisioner. */
const AUDIT_EXPORTS = `
apiVersion: v1
kind: PersistentVolume
metadata: { name: audit-exports }
spec:
  accessModes: [ReadWriteOnce]
  capacity: { storage: 1Gi }
  hostPath: { path: /audit-exports }
  storageClassName: manual
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: { name: audit-exports, namespace: records }
spec:
  accessModes: [ReadWriteOnce]
  resources: { requests: { storage: 1Gi } }
  storageClassName: manual
`;

/** Simulated pods run nothing; test/chart/processes.full.test.ts runs what helm test and brandctl run. */
const NEEDS_RUNNING_PODS = /\b(exec|port-forward)\b|^curl|rollout restart|\$OLD\b/;
/** The Secrets of step 3 are there twice: with TLS and without. */
const SECRET = /^kubectl --namespace records create secret generic (\S+)/;

it("docs/kubernetes.md: its commands install, upgrade, roll back and remove a release, in their order", async () => {
  const commands = findCommands("docs/kubernetes.md").filter(
    (command) => /^(kubectl|helm) /.test(command) && !NEEDS_RUNNING_PODS.test(command),
  );
  expect(commands.length).toBeGreaterThan(12);
  for (const command of commands) {
    const local = command
      .replace("my-values.yaml", `${CHART}/values-laptop.yaml`)
      .replace("--from-file=ca.crt", "--from-literal=ca.crt=PEM");
    const [, secret] = SECRET.exec(command) ?? [];
    if (secret !== undefined) await cluster.kubectl(["delete", "secret", secret, "--namespace=records", "--ignore-not-found"]);
    if (command.includes("maintenance.claim=audit-exports")) await cluster.kubectl(["apply", "--filename=-"], AUDIT_EXPORTS);
    await cluster.shell(local);
  }
});

describe("docs/kubernetes.md: its commands end, and tell what is wrong", () => {
  const NAMESPACE = "wrong";
  const inNamespace = (...args: string[]): string[] => [...args, "--namespace", NAMESPACE];
  const withTag = (tag: string): string[] => inNamespace(CHART, ...valuesOf("laptop"), "--set-string", `image.tag=${tag}`);
  /** Runs the documented commands from the first to the last that match, and returns what they show. */
  const runDocumented = async (first: RegExp, last: RegExp): Promise<string> => {
    const commands = findCommands("docs/kubernetes.md");
    const start = commands.findIndex((command) => first.test(command));
    const end = commands.findIndex((command, index) => index >= start && last.test(command));
    const lines = commands.slice(start, end + 1).map((command) => command.replaceAll("--namespace records", `--namespace ${NAMESPACE}`));
    expect(lines.length).toBeGreaterThan(0);
    return cluster.shell(`{\n${lines.join("\n")}\n} 2>&1`);
  };
  beforeAll(async () => {
    await cluster.kubectl(["create", "namespace", NAMESPACE]);
    await cluster.kubectl(inNamespace("wait", "--for=create", "serviceaccount/default", "--timeout=60s"));
  });

  it("after an install, an image that is missing", async () => {
    await cluster.helm(["install", "br", ...withTag("missing")]);
    const told = await runDocumented(/^helm .* test br /, /./);
    expect(told).toMatch(/Pod\/br-brand-records-gateway-\S+ +Failed to pull image "brand-records:missing": not found/);
    expect(told).toContain("error: ");
  });

  it("after an upgrade, the same, while the old processes serve", async () => {
    await cluster.helm(["upgrade", "br", ...withTag(PRESENT)]);
    expect(await runDocumented(/xargs .* rollout status/, /./)).toContain(LAST_LINE);
    await cluster.kubectl(inNamespace("delete", "events", "--all"));
    await cluster.helm(["upgrade", "br", ...withTag("missing")]);
    const told = await runDocumented(/xargs .* rollout status/, /./);
    expect(told).toMatch(/Waiting for deployment "br-brand-records-gateway" rollout to finish/);
    expect(told).toContain('Failed to pull image "brand-records:missing"');
  });

  const applyJob = async (tag: string, values: string): Promise<string> => {
    const job = [
      "--set",
      `maintenance.program=re-encrypt,maintenance.service=webhook${values}`,
      "--show-only",
      "templates/maintenance.yaml",
    ];
    await cluster.kubectl(inNamespace("apply", "--filename=-"), await cluster.helm(["template", "br", ...withTag(tag), ...job]));
    return runDocumented(/^kubectl .* wait .* job\/br-brand-records-re-encrypt/, / delete .* job\/br-brand-records-re-encrypt/);
  };

  it.each([
    ["refused", "Failed"],
    [PRESENT, "Complete"],
  ])("of a Job whose image is %s, that it is %s, and its last line", async (tag, status) => {
    const told = await applyJob(tag, "");
    expect(told).toContain("job.batch/br-brand-records-re-encrypt condition met");
    expect(told).toMatch(new RegExp(`^br-brand-records-re-encrypt +(${status}|FailureTarget|SuccessCriteriaMet) `, "m"));
    expect(told).toContain(LAST_LINE);
  });

  it("of a Job that no node takes, the claim that its pod lacks", async () => {
    const told = await applyJob(PRESENT, ",maintenance.claim=absent");
    expect(told).toMatch(/^br-brand-records-re-encrypt +Running /m);
    expect(told).toContain('persistentvolumeclaim "absent" not found');
  });

  it.each([
    ["ConfigMap", "configmap", "configMap"],
    ["Secret", "secret generic", "secret"],
  ])("at an install, the key that the %s of extraCa lacks", async (kind, create, value) => {
    await cluster.kubectl(inNamespace("create", ...create.split(" "), "company", "--from-literal=root.pem=PEM"));
    const install = ["install", "other", ...withTag(PRESENT), "--set", `extraCa.${value}=company`];
    await expect(cluster.helm([...install, "--dry-run=server"])).rejects.toThrow(
      `extraCa.key: the ${kind} company has no key ca.crt. It has: root.pem`,
    );
    await cluster.helm([...install, "--dry-run=server", "--set", "extraCa.key=root.pem"]);
  });
});
