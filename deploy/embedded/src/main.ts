import { ConfigError } from "@brand-records/config";
import { Lifecycle } from "@brand-records/lifecycle";
import pc from "picocolors";
import { parseConfig } from "./config.ts";
import { launch } from "./launch.ts";
import { LaunchError } from "./launch-error.ts";
import { localFiles } from "./local-files.ts";
import { openTerminal } from "./terminal.ts";

const terminal = openTerminal(process.stdout);
const life = new Lifecycle({
  info: () => {},
  error: (fields, message) => terminal.say(pc.red(`${"resource" in fields ? String(fields.resource) : ""} ${message}`)),
});

let signals = 0;
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(signal, () => {
    signals += 1;
    if (signals > 1) process.exit(130);
    terminal.step("Stopping");
    void life.stop().then((clean) => {
      terminal.say(clean ? "Stopped." : pc.red("Stopped, not everything properly."));
      process.exit(clean ? 0 : 1);
    });
  });
}

try {
  const config = parseConfig(process.env);
  await launch(config, localFiles(config.LOCAL_DIR), life, terminal, process.env);
  life.markReady();
} catch (error) {
  // Interrupted while starting: what was asked to stop is no failure.
  if (signals === 0) {
    terminal.say(
      pc.red(
        error instanceof LaunchError || error instanceof ConfigError ? error.message : String(error instanceof Error ? error.stack : error),
      ),
    );
    await life.stop();
    process.exit(1);
  }
}
