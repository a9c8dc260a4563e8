import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { runProgram } from "./run-program.ts";
import { cachedFolder } from "./cache.ts";

const MODULE = join(process.cwd(), "test/chart/kubernetes");
export const KUBERNETES = "v1.36.3";
/** The module and version of kwok, the simulated nodes. */
export const KWOK = { module: "sigs.k8s.io/kwok", version: "v0.8.0" } as const;
const KWOK_PROGRAM = `${KWOK.module}/cmd/kwok@${KWOK.version}`;
/** Cold, on two cores that others use too. */
const BUILD_MS_MAX = 25 * 60_000;

const NEEDS_GO = "The chart's tests fetch Kubernetes from Go modules. Install Go 1.26 or later (https://go.dev/dl).";

export const PROGRAMS = ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok"] as const;
export type KubernetesProgram = (typeof PROGRAMS)[number];

/** Where each program is: in the folder KUBEBUILDER_ASSETS, if it is there, else built once from Go modules into the cache. */
export async function kubernetesPrograms(): Promise<Readonly<Record<KubernetesProgram, string>>> {
  const given = process.env["KUBEBUILDER_ASSETS"];
  const inAssets = (name: string): string | undefined => [join(given ?? "", name)].find((path) => given !== undefined && existsSync(path));
  const built = PROGRAMS.every((name) => inAssets(name) !== undefined) ? "" : await builtPrograms();
  return Object.fromEntries(PROGRAMS.map((name) => [name, inAssets(name) ?? join(built, name)])) as Record<KubernetesProgram, string>;
}

function builtPrograms(): Promise<string> {
  const inputs = ["go.mod", "go.sum"].map((name) => readFileSync(join(MODULE, name)));
  const version = createHash("sha256").update(Buffer.concat(inputs)).update(KWOK_PROGRAM).digest("hex").slice(0, 12);
  return cachedFolder(`kubernetes-${KUBERNETES}-${version}`, async (draft) => {
    const kubernetes = ["kube-apiserver", "kube-controller-manager", "kube-scheduler"].map((name) => `k8s.io/kubernetes/cmd/${name}`);
    const gitVersion = `-X k8s.io/component-base/version.gitVersion=${KUBERNETES}`;
    // One after the other: together they need more memory than small machines have.
    await go(["build", "-trimpath", "-ldflags", `-s -w ${gitVersion}`, "-o", `${draft}/`, ...kubernetes], {});
    await go(["build", "-trimpath", "-ldflags", "-s -w", "-o", join(draft, "etcd"), "go.etcd.io/etcd/server/v3"], {});
    await go(["install", "-trimpath", "-ldflags", "-s -w", KWOK_PROGRAM], { GOBIN: draft });
  });
}

/** Runs Go at low priority: nothing waits for it but this test. */
export const go = (args: readonly string[], env: Readonly<Record<string, string>>): Promise<string> =>
  runProgram("nice", ["-n", "19", "go", ...args], {
    cwd: MODULE,
    env: { CGO_ENABLED: "0", ...env },
    timeoutMs: BUILD_MS_MAX,
    cure: NEEDS_GO,
  });
