import { readFile } from "node:fs/promises";
import { join } from "node:path";
import * as timers from "node:timers/promises";
import { compileFunction } from "node:vm";
import { transformSync } from "@swc/core";
/** Returns the code of docs/platform.md that writes in the cell of a brand. */
export async function documentedInCellOf() {
    const page = await readFile(join(import.meta.dirname, "../../../docs/platform.md"), "utf8");
    const [, source = ""] = /^## Records in cells[^]*?```ts\n([^]*?)```/m.exec(page) ?? [];
    const { code } = transformSync(source, { jsc: { parser: { syntax: "typescript" }, target: "es2024" }, module: { type: "commonjs" } });
    const exported = {};
    // The clock is the one that a test may set.
    compileFunction(code, ["require", "exports", "Date"])(() => timers, exported, Date);
    return exported.inCellOf;
}
//# sourceMappingURL=documented-writer.js.map