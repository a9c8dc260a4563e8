import { readFile, writeFile } from "node:fs/promises";
import type { ExportAuditRequest } from "@brand-records/proto/accounts/v1";
import { at, entryOf, idsIn, serveAuditExport, type AuditExport } from "../../test/audit-export.ts";
import { Recorder } from "../../test/test-terminal.ts";

import { readEntries } from "../export-audit/read-entries.ts";

/** One promise: the lines are the audit log of all brands. */

let exporting: AuditExport;
beforeEach(async () => {
  exporting = await serveAuditExport();
});
afterEach(() => exporting.stop());

it("writes a line for each entry, with every field of the proto in its order", async () => {
  exporting.audit.entries.push(
    entryOf("a", {
      actor: "ana@ulap.example",
      address: "203.0.113.7",
      outcome: "done",
      finished_at: at(1),
      via: "zoe@ulap.example",
      role: "owner",
    }),
  );
  const { code, stdout, stderr } = await exporting.run([]);
  expect({ code, stderr }).toEqual({
    code: 0,
    stderr: `Exported 1 entry, changed from ${at(1)}. Complete until 2026-11-22T00:00:00.000Z.\n`,
  });
  expect(stdout).toBe(
    `{"id":"aud_a","brand_id":"brd_1","actor":"ana@ulap.example","action":"key.revoke","subject_id":"key_1","fields":[],"request_id":"req_1",` +
      `"address":"203.0.113.7","created_at":"2026-11-21T08:30:00.000Z","outcome":"done","error_kind":null,"finished_at":"2026-11-21T08:30:01.000Z",` +
      `"via":"zoe@ulap.example","browser":null,"role":"owner","tries":1}\n`,
  );
});

it("has the fields of the proto", async () => {
  const proto = await readFile("proto/accounts/v1/accounts.proto", "utf8");
  const [, message = ""] = /^message AuditEntry \{(.*?)^\}/ms.exec(proto) ?? [];
  exporting.audit.entries.push(entryOf("a"));
  expect(Object.keys(JSON.parse((await exporting.run([])).stdout) as object)).toEqual(
    [...message.matchAll(/ (\w+) = \d+;/g)].map(([, name]) => name),
  );
});

it("exports everything, or from a time on, in ascending order, over all pages", async () => {
  exporting.addFive();
  expect(idsIn((await exporting.run([])).stdout)).toEqual(["a", "b", "c", "d", "e"]);
  expect(idsIn((await exporting.run(["--since", "2026-11-21T16:30:01+08:00"])).stdout)).toEqual(["b", "c", "d", "e"]);
  expect(exporting.audit.exportRequests.at(-1)?.since).toBe(at(1));
});

it("stops at Ctrl-C while its output is not read", async () => {
  exporting.addFive();
  const interrupting = new AbortController();
  class Stuck extends Recorder {
    override _write(): void {
      interrupting.abort();
    }
  }
  expect(
    await exporting.run([], { interrupted: interrupting.signal, stdout: new Stuck(false), env: { ACCOUNTS_ADDRESS: exporting.address } }),
  ).toMatchObject({
    code: 130,
    stderr: expect.stringContaining("Interrupted. 0 entries were written."),
  });
});

it("ends when its reader has enough", async () => {
  exporting.addFive();
  class Closed extends Recorder {
    override _write(_chunk: string | Buffer, _encoding: string, done: (error?: Error) => void): void {
      done(Object.assign(new Error("write EPIPE"), { code: "EPIPE" }));
    }
  }
  const stdout = new Closed(false);
  stdout.on("error", () => undefined);
  expect((await exporting.run([], { stdout })).code).toBe(0);
  expect(exporting.audit.exportRequests).toHaveLength(1);
});

it("prints the summary as JSON with --json, and lines alone to standard output", async () => {
  exporting.addFive();
  expect((await exporting.run(["--json", "--out", exporting.file])).json()).toEqual({
    export: { entries: 5, from: at(0), until: "2026-11-22T00:00:00.000Z", file: exporting.file },
  });
  expect(await exporting.run(["--json"])).toMatchObject({ code: 0, stdout: await exporting.content(), stderr: "" });
  await writeFile(exporting.file, "x");
  expect(JSON.parse((await exporting.run(["--json", "--out", exporting.file])).stderr)).toMatchObject({ error: { code: "not_an_export" } });
});

it("follows with ids alone, from one time on, until Ctrl-C", async () => {
  exporting.audit.entries.push(
    entryOf("a", { actor: "ana@ulap.example", address: "203.0.113.7", via: "zoe@ulap.example", browser: "ses_1" }),
    entryOf("b", { action: "member.remove", subject_id: "ana@ulap.example", created_at: at(1) }),
  );
  const interrupting = new AbortController();
  class UntilNew extends Recorder {
    override _write(chunk: string | Buffer, _encoding: string, done: () => void): void {
      this.text += chunk.toString();
      done();
      interrupting.abort();
    }
  }
  const stdout = new UntilNew(false);
  const { code } = await exporting.run(["--follow", "--since", at(0)], { stdout, interrupted: interrupting.signal });
  expect(code).toBe(130);
  const lines = stdout.text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(lines).toEqual([
    expect.objectContaining({ id: "aud_a", brand_id: "brd_1", action: "key.revoke", subject_id: "key_1" }),
    expect.objectContaining({ id: "aud_b", action: "member.remove", subject_id: null }),
  ]);
  expect(stdout.text).not.toContain("@");
  expect(stdout.text).not.toContain("203.0.113.7");
});

it("goes on after what is settled, each time that more may be", async () => {
  exporting.addFive();
  const ids: string[] = [];
  let waits = 0;
  const wait = async (): Promise<void> => {
    waits += 1;
    if (waits > 2) throw new Error("enough");
    exporting.audit.entries.push(entryOf(`new ${waits}`, { created_at: at(10 + waits) }));
  };
  const client = { exportAudit: (request: ExportAuditRequest) => exporting.audit.exportPage(request) };
  await expect(
    (async () => {
      for await (const { entries } of readEntries(client, undefined, undefined, wait)) ids.push(...entries.map(({ id }) => id));
    })(),
  ).rejects.toThrow("enough");
  expect(ids).toEqual(["aud_a", "aud_b", "aud_c", "aud_d", "aud_e", "aud_new 1", "aud_new 2"]);
});

it("is wrong usage to follow into a file, which has every field", async () => {
  expect((await exporting.run(["--follow", "--out", exporting.file])).code).toBe(2);
});

it("shows the progress on a terminal", async () => {
  exporting.addFive();
  const { stderr } = await exporting.run(undefined, { isTerminal: true });
  expect(stderr).toContain("audit log");
  expect(stderr).toContain("Exported 5 entries");
});

it("is wrong usage with a time that is none", async () => {
  expect((await exporting.run(["--since", "yesterday"])).code).toBe(2);
});
