import { go } from "./programs.ts";

/** Where the sources of Go modules are, as MODULE@VERSION to folder: in Go's cache, which checks their sums. */
export async function moduleFolders(modules: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const described = await go(["mod", "download", "-json", ...modules], {});
  const form = /"Path": "(.+)"[^}]*?"Version": "(.+)"[^}]*?"Dir": "(.+)"/g;
  return new Map([...described.matchAll(form)].map(([, path, version, folder]) => [`${path}@${version}`, folder ?? ""]));
}
