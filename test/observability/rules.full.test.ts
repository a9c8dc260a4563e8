import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { ensureBackingServices } from "../setup/ensure-backing-services.ts";
import { RULE_TESTS_FOLDER } from "./rules.ts";

/** One promise: each alert fires when it should, and only then. In days of made-up metrics, which takes promtool ten seconds. */

it.each(readdirSync(RULE_TESTS_FOLDER))("%s", async (name) => {
  const promtool = (await ensureBackingServices("prometheus")).get("PROMTOOL") ?? "";
  await promisify(execFile)(promtool, ["test", "rules", join(RULE_TESTS_FOLDER, name)]);
});
