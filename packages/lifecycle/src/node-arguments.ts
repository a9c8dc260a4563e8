/**
 * Arguments of node for our processes. V8 sizes its young generation by the machine's memory: with 24 GB it grows to 128 MiB under
 * load and stays there. With semi-spaces of 16 MiB it takes 32 MiB (docs/benchmarks.md).
 */
export const NODE_ARGUMENTS: readonly string[] = ["--enable-source-maps", "--max-semi-space-size=16"];
