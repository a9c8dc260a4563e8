import { run } from "./smoke-process.cjs";
import { smoke } from "./smoke.mjs";

await run(smoke);
