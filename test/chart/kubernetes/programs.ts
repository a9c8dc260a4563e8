import { existsSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runProgram } from "./run-program.ts";
import { cachedFolder } from "./cache.ts";

export const KUBERNETES = "v1.36.3";
const ETCD = "v3.6.8";
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

const builtPrograms = (): Promise<string> =>
  cachedFolder(`kubernetes-${KUBERNETES}-etcd-${ETCD}-kwok-${KWOK.version}`, async (draft) => {
    const module = join(draft, "module");
    await writeModule(module);
    const kubernetes = ["kube-apiserver", "kube-controller-manager", "kube-scheduler"].map((name) => `k8s.io/kubernetes/cmd/${name}`);
    const gitVersion = `-X k8s.io/component-base/version.gitVersion=${KUBERNETES}`;
    // One after the other: together they need more memory than small machines have.
    await go(["build", "-mod=mod", "-trimpath", "-ldflags", `-s -w ${gitVersion}`, "-o", `${draft}/`, ...kubernetes], {}, module);
    await go(["build", "-mod=mod", "-trimpath", "-ldflags", "-s -w", "-o", join(draft, "etcd"), "go.etcd.io/etcd/server/v3"], {}, module);
    await go(["install", "-trimpath", "-ldflags", "-s -w", KWOK_PROGRAM], { GOBIN: draft });
    await rm(module, { recursive: true });
  });

/** A module with the versions and sums of Kubernetes' own, whose parts it replaces by their releases: they are not in its archive. */
async function writeModule(folder: string): Promise<void> {
  const source = await moduleFolder(`k8s.io/kubernetes@${KUBERNETES}`);
  const read = (name: string): Promise<string> => readFile(join(source, name), "utf8");
  const own = (await read("go.mod"))
    .replace(/^module .*$/m, "module brand-records.test/kubernetes")
    .replaceAll(/=> \.\/staging\/src\/(\S+)/g, `=> $1 ${KUBERNETES.replace("v1.", "v0.")}`);
  await mkdir(folder);
  await writeFile(join(folder, "go.mod"), own);
  await writeFile(join(folder, "go.sum"), await read("go.sum"));
  const required = [`k8s.io/kubernetes@${KUBERNETES}`, `go.etcd.io/etcd/server/v3@${ETCD}`];
  await go(["mod", "edit", ...required.map((each) => `-require=${each}`)], {}, folder);
}

/** Where the sources of Go modules are, as MODULE@VERSION to folder: in Go's cache, which checks their sums. */
export async function moduleFolders(modules: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const described = await go(["mod", "download", "-json", ...modules], {});
  const form = /"Path": "(.+)"[^}]*?"Version": "(.+)"[^}]*?"Dir": "(.+)"/g;
  return new Map([...described.matchAll(form)].map(([, path, version, folder]) => [`${path}@${version}`, folder ?? ""]));
}

export const moduleFolder = async (module: string): Promise<string> => (await moduleFolders([module])).get(module) ?? "";

/** Runs Go at low priority: nothing waits for it but this test. */
const go = (args: readonly string[], env: Readonly<Record<string, string>>, cwd = tmpdir()): Promise<string> =>
  runProgram("nice", ["-n", "19", "go", ...args], {
    cwd,
    env: { CGO_ENABLED: "0", GOWORK: "off", ...env },
    timeoutMs: BUILD_MS_MAX,
    cure: NEEDS_GO,
  });
