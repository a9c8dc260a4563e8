import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Client } from "./helm-and-kubectl.ts";
import { moduleFolders } from "./programs.ts";

/** Where each project keeps the definitions that the chart's objects need, in the source of its release. */
const SOURCES: readonly { readonly module: string; readonly folder: string; readonly kinds: RegExp }[] = [
  { module: "github.com/cert-manager/cert-manager@v1.21.2", folder: "deploy/crds", kinds: /_(certificates|issuers)\.yaml$/ },
  { module: "github.com/kedacore/keda/v2@v2.21.0", folder: "config/crd/bases", kinds: /_scaledobjects\.yaml$/ },
  { module: "github.com/external-secrets/external-secrets@v1.3.2", folder: "config/crds/bases", kinds: /_externalsecrets\.yaml$/ },
  {
    module: "github.com/prometheus-operator/prometheus-operator@v0.85.0",
    folder: "example/prometheus-operator-crd",
    kinds: /_(podmonitors|prometheusrules)\.yaml$/,
  },
  { module: "sigs.k8s.io/gateway-api@v1.6.1", folder: "config/crd/standard", kinds: /_(gateways|httproutes)\.yaml$/ },
];

/** The definitions of the custom resources of the operators that the chart works with, in Go's module cache, which checks their sums. */
export async function customResourceFiles(): Promise<readonly string[]> {
  const folders = await moduleFolders(SOURCES.map(({ module }) => module));
  const files: string[] = [];
  for (const { module, folder, kinds } of SOURCES) {
    const path = join(folders.get(module) ?? "", folder);
    const names = (await readdir(path)).filter((name) => kinds.test(name));
    if (names.length === 0) throw new Error(`${module} has no file like ${kinds} in ${folder}`);
    files.push(...names.map((name) => join(path, name)));
  }
  return files;
}

export async function installCustomResources(kubectl: Client): Promise<void> {
  const files = await customResourceFiles();
  // Those of KEDA are too long for client-side apply's annotation.
  await kubectl(["apply", "--server-side", ...files.map((file) => `--filename=${file}`)]);
  await kubectl(["wait", "--for=condition=Established", "customresourcedefinitions", "--all", "--timeout=60s"]);
}
