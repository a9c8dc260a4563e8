/**
 * Arguments of node for our processes. V8 sizes its young generation by the machine's memory: with 24 GB it grows to 128 MiB under
 * load and stays there. With semi-spaces of 16 MiB it takes 32 MiB (docs/benchmarks.md).
 */
export const NODE_ARGUMENTS: readonly string[] = ["--enable-source-maps", "--max-semi-space-size=16"];

/** Variables of the same processes. glibc gives threads memory of their own, which it keeps: 20 to 30 MiB of a gateway under load. */
export const NODE_ENVIRONMENT = { MALLOC_ARENA_MAX: "1" };
