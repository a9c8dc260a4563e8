import process from "node:process";

/** Prints the step with its duration; the error of one that fails begins with its name. */
export async function step(name, work) {
  const startedAt = performance.now();
  const print = (outcome) =>
    process.stderr.write(`${outcome.padEnd(7)}${name.padEnd(32)}${((performance.now() - startedAt) / 1_000).toFixed(1).padStart(7)} s\n`);
  try {
    await work();
  } catch (error) {
    print("FAILED");
    throw new Error(`${name}: ${error.message}`, { cause: error });
  }
  print("ok");
}
