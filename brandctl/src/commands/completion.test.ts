import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { EVENT_TYPE_NAMES } from "@brand-records/brand-events";
import { commandTree, allCommands } from "@brand-records/shell-completion";
import { buildProgram } from "../program.ts";
import { KIND_NAMES, statusesOf } from "../set-status/status-rules.ts";
import { Shell } from "../shell.ts";
import { brandctl, Recorder } from "../../test/test-terminal.ts";

const run = promisify(execFile);

/** What bash offers for Tab after these words. */
async function offered(...words: string[]): Promise<string[]> {
  const { stdout: script } = await brandctl(["completion", "bash"]);
  const tab = `compopt() { :; }; COMP_WORDS=(brandctl "$@"); COMP_CWORD=$#; _brandctl; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout } = await run("bash", ["-c", `${script}\n${tab}`, "bash", ...words], { cwd: process.cwd() });
  return stdout.split("\n").filter((line) => line !== "");
}

describe("brandctl completion", () => {
  it("offers commands, then their subcommands", async () => {
    expect(await offered("")).toEqual([
      "brands",
      "members",
      "keys",
      "audit",
      "requests",
      "records",
      "plans",
      "receivers",
      "deliveries",
      "events",
      "listen",
      "doctor",
      "completion",
    ]);
    expect(await offered("brands", "s")).toEqual(["set-tier"]);
    expect(await offered("--accounts-address", "localhost:1", "keys", "")).toEqual(["create", "list", "show", "revoke"]);
  });

  it("offers options, global ones included", async () => {
    expect(await offered("members", "add", "--r")).toEqual(["--role", "--records-address"]);
    expect(await offered("brands", "create", "--j")).toEqual(["--json"]);
  });

  it("offers the values of an option or argument", async () => {
    expect(await offered("brands", "create", "--tier", "p")).toEqual(["plus", "pro"]);
    expect(await offered("brands", "set-tier", "brd_1", "")).toEqual(["starter", "plus", "pro", "enterprise"]);
    expect(await offered("records", "import", "--resource", "c")).toEqual(["campaigns", "conversions"]);
    expect(await offered("plans", "list", "--status", "")).toEqual(["pending", "completed", "cancelled"]);
    expect(await offered("events", "list", "--type", "p")).toEqual(["payout.paid"]);
    expect(await offered("deliveries", "list", "--state", "")).toEqual(["pending", "sending", "held", "delivered", "failed"]);
    expect(await offered("receivers", "test", "--type", "c")).toEqual(["campaign.settled"]);
    expect(await offered("completion", "")).toEqual(["bash", "zsh", "fish"]);
    expect(await offered("records", "import", "package.js")).toEqual(["package.json"]);
  });

  it("offers the event types for each item of a list", async () => {
    expect(await offered("receivers", "create", "--events", "")).toEqual([...EVENT_TYPE_NAMES]);
    expect(await offered("listen", "--events", "pay")).toEqual(["payout.paid"]);
    expect(await offered("receivers", "update", "rcv_1", "--events", "payout.paid,c")).toEqual(["payout.paid,campaign.settled"]);
    expect(await offered("deliveries", "list", "--state", "failed,de")).toEqual(["failed,delivered"]);
  });

  it("offers the statuses of the kind", async () => {
    for (const kind of KIND_NAMES) expect(await offered("records", "set-status", kind, "id", "")).toEqual([...statusesOf(kind)]);
    expect(await offered("records", "set-status", "--brand", "brd_1", "payout", "po_1", "pa")).toEqual(["paid"]);
    expect(await offered("records", "set-status", "unknown", "id", "")).toEqual([]);
  });

  it.each([
    ["bash", ["payout) COMPREPLY=", `-W "${EVENT_TYPE_NAMES.join(" ")}"`]],
    ["zsh", ["payout) compadd -- 'pending'", "compset -P '*,'; compadd -S '' -- 'submission.approved'"]],
    ["fish", ["\\' records set-status\\' 2 payout' -a 'pending", `(__brandctl_list ${EVENT_TYPE_NAMES.join(" ")})`]],
  ])("has the event types and statuses in %s", async (shell, parts) => {
    const { stdout } = await brandctl(["completion", shell]);
    for (const part of parts) expect(stdout).toContain(part);
  });

  it("is not confused by values that look like commands", async () => {
    expect(await offered("keys", "create", "--name", "list", "--env")).toEqual(["--environment"]);
    expect(await offered("members", "remove", "list", "--j")).toEqual(["--json"]);
  });

  it.each(["bash", "zsh", "fish"])("knows every command and option in %s", async (shell) => {
    const script = (await brandctl(["completion", shell, "--json"])).json<{ shell: string; script: string }>();
    expect(script.shell).toBe(shell);
    const terminal = { stdin: process.stdin, stdout: new Recorder(false), stderr: new Recorder(false), env: {}, cwd: "/" };
    const program = buildProgram(new Shell({ ...terminal, interrupted: new AbortController().signal }), { version: "1", quiet: true });
    for (const { path, options } of allCommands(commandTree(program))) {
      expect(script.script).toContain(path);
      for (const { flag } of options) expect(script.script).toContain(shell === "fish" ? `-l ${flag.slice(2)}` : flag);
    }
  });

  it("knows no other shell", async () => {
    expect(await brandctl(["completion", "tcsh"])).toMatchObject({ code: 2, stderr: expect.stringContaining("bash, zsh, fish") });
  });
});
