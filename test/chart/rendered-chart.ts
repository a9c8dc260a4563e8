import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { helmAndKubectl } from "./kubernetes/helm-and-kubectl.ts";

export const CHART = join(process.cwd(), "deploy/helm/brand-records");
export const VALUE_FILES = ["laptop", "standard", "large"] as const;
export type ValueFile = (typeof VALUE_FILES)[number];

export interface KubernetesObject {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly labels?: Readonly<Record<string, string>> };
  // Objects are of many kinds: tests read what their kind has.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly [field: string]: any;
}

/** The name under which all tests install it: names of objects begin with it. */
export const RELEASE = "shop";
export const FULLNAME = "shop-brand-records";

export const valuesOf = (file: ValueFile): string[] => ["--values", join(CHART, `values-${file}.yaml`)];

/** What `helm template` writes. @throws Error with helm's message */
export async function renderText(args: readonly string[]): Promise<string> {
  const { helm } = await helmAndKubectl();
  return helm(["template", RELEASE, CHART, "--namespace", "records", ...args]);
}

export async function render(args: readonly string[]): Promise<KubernetesObject[]> {
  return objectsOf(await renderText(args));
}

export const objectsOf = (text: string): KubernetesObject[] =>
  parseAllDocuments(text)
    .map((document) => document.toJS() as KubernetesObject | null)
    .filter((object) => object !== null);
