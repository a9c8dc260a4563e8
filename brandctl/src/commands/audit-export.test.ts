import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, open, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { AppError } from "@brand-records/errors";
import { AuditServiceService, type AuditEntry, type ExportAuditRequest, type ExportAuditResponse } from "@brand-records/proto/accounts/v1";
import { connectRpc } from "@brand-records/rpc";
import { eventually, startTcpProxy } from "@brand-records/testkit";
import { context, startProduct } from "../../test/product.ts";
import { failing, Recorder, type Outcome, type Surroundings } from "../../test/test-terminal.ts";
import { readEntries } from "../export-audit/export-entries.ts";

/** Two promises: the lines are the audit log of all brands; however often it is interrupted and repeated, a file has it once, in order. */

const product = startProduct();
let folder: string;
/** In the folder; it does not exist yet. */
let file: string;
/** Requests for pages. */
let requests: ExportAuditRequest[];
/** Entries on a page at most. */
let pageSize: number;
/** Runs before a page is returned. */
let beforePage: () => void | Promise<void>;
/** Replaces what the service returns. */
let changed: Partial<ExportAuditResponse>;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "audit-export-"));
  file = join(folder, "audit.ndjson");
  [requests, pageSize, beforePage, changed] = [[], 2, () => {}, {}];
  await product.db.query("truncate accounts.audit_entries");
  product.intercepts.set("accounts.exportAudit", async (request: ExportAuditRequest, forward) => {
    requests.push(request);
    await beforePage();
    return { ...((await forward({ ...request, page_size: pageSize })) as ExportAuditResponse), ...changed };
  });
});
afterEach(() => rm(folder, { recursive: true }));

const run = (args: string[] = ["--out", file], surroundings: Surroundings = {}): Promise<Outcome> =>
  product.run(["audit", "export", ...args], surroundings);
const content = (): Promise<string> => readFile(file, "utf8");
const at = (second: number): string => `2026-11-21T08:30:${String(second).padStart(2, "0")}.000Z`;
/** The ids of an export's lines, without their prefix. */
const idsIn = (text: string): string[] =>
  text
    .split("\n")
    .filter(Boolean)
    .map((line) => (JSON.parse(line) as AuditEntry).id.slice(4));

async function add(id: string, entry: Partial<AuditEntry> = {}): Promise<void> {
  const columns = {
    id: `aud_${id}`,
    brand_id: "brd_1",
    action: "key.revoke",
    subject_id: "key_1",
    fields: [],
    request_id: "req_1",
    created_at: at(0),
    ...entry,
  };
  await product.db.query(
    `insert into accounts.audit_entries (${Object.keys(columns).join(", ")}) values (${Object.keys(columns)
      .map((_, n) => `$${n + 1}`)
      .join(", ")})`,
    Object.values(columns),
  );
}

/** Adds the entries a to e: the second and third have the same time. */
async function addFive(): Promise<void> {
  for (const [index, second] of [0, 1, 1, 2, 3].entries()) await add("abcde"[index] ?? "", { created_at: at(second) });
}

describe("lines", () => {
  it("writes a line for each entry, with every field of the proto in its order", async () => {
    await add("a", {
      actor: "ana@ulap.example",
      address: "203.0.113.7",
      outcome: "done",
      finished_at: at(1),
      via: "zoe@ulap.example",
      role: "owner",
    });
    const { code, stdout, stderr } = await run([]);
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringMatching(`^Exported 1 entry, changed from ${at(1)}. Complete until 20\\S+Z.\\n$`),
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
    await add("a");
    expect(Object.keys(JSON.parse((await run([])).stdout) as object)).toEqual(
      [...message.matchAll(/ (\w+) = \d+;/g)].map(([, name]) => name),
    );
  });

  it("exports everything, or from a time on, in ascending order, over all pages", async () => {
    await addFive();
    expect(idsIn((await run([])).stdout)).toEqual(["a", "b", "c", "d", "e"]);
    expect(idsIn((await run(["--since", "2026-11-21T16:30:01+08:00"])).stdout)).toEqual(["b", "c", "d", "e"]);
    expect(requests.at(-1)?.since).toBe(at(1));
  });

  it("stops at Ctrl-C while its output is not read", async () => {
    await addFive();
    const interrupting = new AbortController();
    class Stuck extends Recorder {
      override _write(): void {
        interrupting.abort();
      }
    }
    expect(await run([], { interrupted: interrupting.signal, stdout: new Stuck(false) })).toMatchObject(
      failing(130, "Interrupted. 0 entries were written."),
    );
  });

  it("ends when its reader has enough", async () => {
    await addFive();
    class Closed extends Recorder {
      override _write(_chunk: string | Buffer, _encoding: string, done: (error?: Error) => void): void {
        done(Object.assign(new Error("write EPIPE"), { code: "EPIPE" }));
      }
    }
    const stdout = new Closed(false);
    stdout.on("error", () => undefined);
    expect((await run([], { stdout })).code).toBe(0);
    expect(requests).toHaveLength(1);
  });

  it("prints the summary as JSON with --json, and lines alone to standard output", async () => {
    await addFive();
    expect((await run(["--json", "--out", file])).json()).toEqual({
      export: { entries: 5, from: at(0), until: expect.stringMatching(/^20/), file: file },
    });
    expect(await run(["--json"])).toMatchObject({ code: 0, stdout: await content(), stderr: "" });
    await writeFile(file, "x");
    expect(JSON.parse((await run(["--json", "--out", file])).stderr)).toMatchObject({ error: { code: "not_an_export" } });
  });

  it("follows with ids alone, from one time on, until Ctrl-C", async () => {
    await add("a", { actor: "ana@ulap.example", address: "203.0.113.7", via: "zoe@ulap.example", browser: "Firefox" });
    await add("b", { action: "member.remove", subject_id: "ana@ulap.example", created_at: at(1) });
    const interrupting = new AbortController();
    const stdout = new Recorder(false);
    const following = run(["--follow", "--since", at(0)], { stdout, interrupted: interrupting.signal });
    await eventually(() => expect(stdout.text).toContain("aud_b"));
    interrupting.abort();
    expect((await following).code).toBe(130);
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
    // A new field of the proto is in these lines, too, unless idsLineOf leaves it out as one of people.
    expect(Object.keys(lines[0] ?? {})).toEqual(
      "id brand_id action subject_id fields request_id created_at outcome error_kind finished_at role tries".split(" "),
    );
  });

  it("goes on after what is settled, each time that more may be", async () => {
    await addFive();
    const entries: AuditEntry[] = [];
    let waits = 0;
    const wait = async (): Promise<void> => {
      waits += 1;
      if (waits > 2) throw new Error("enough");
      await add(`new${waits}`, { created_at: at(10 + waits) });
    };
    const audit = connectRpc(AuditServiceService, product.env.ACCOUNTS_ADDRESS);
    const client = { exportAudit: (request: ExportAuditRequest) => audit.exportAudit(request, context()) };
    const reading = async (): Promise<void> => {
      for await (const page of readEntries(client, undefined, undefined, wait)) entries.push(...page.entries);
    };
    await expect(reading()).rejects.toThrow("enough");
    audit.stop();
    expect(entries.map(({ id }) => id.slice(4))).toEqual(["a", "b", "c", "d", "e", "new1", "new2"]);
  });

  it.each([
    ["to follow into a file, which has every field", ["--follow", "--out", "audit.ndjson"]],
    ["to export since what is no time", ["--since", "yesterday"]],
    ["to name no file", ["--out", ""]],
  ])("is wrong usage %s", async (_, args) => {
    expect((await run(args)).code).toBe(2);
  });

  it("shows the progress on a terminal", async () => {
    await addFive();
    const { stderr } = await run(undefined, { isTerminal: true });
    expect(stderr).toContain("audit log");
    expect(stderr).toContain("Exported 5 entries");
  });
});

describe("a file", () => {
  it("makes a file for its owner alone, and continues it with the same command", async () => {
    await add("a");
    expect(await run()).toMatchObject({ code: 0, stdout: "", stderr: expect.stringContaining(`Exported 1 entry into ${file}`) });
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    await add("b", { created_at: at(1) });
    await add("c", { created_at: at(1) });
    for (const count of ["2 entries", "0 entries"]) {
      expect(await run()).toMatchObject({ code: 0, stderr: expect.stringContaining(`Exported ${count} into ${file}`) });
      expect(idsIn(await content())).toEqual(["a", "b", "c"]);
    }
  });

  it("has an entry again when it got its outcome", async () => {
    await add("a");
    await add("b", { created_at: at(1) });
    await run();
    await product.db.query("update accounts.audit_entries set outcome = 'done', finished_at = $1 where id = 'aud_a'", [at(2)]);
    await run();
    expect(idsIn(await content())).toEqual(["a", "b", "a"]);
  });

  it("has what is written during the export", async () => {
    await addFive();
    beforePage = () => (requests.length === 2 ? add("z", { created_at: at(4) }) : undefined);
    await run();
    expect(idsIn(await content())).toEqual(["a", "b", "c", "d", "e", "z"]);
  });

  it("is the same after a kill at any byte", async () => {
    await addFive();
    await run();
    const whole = await readFile(file);
    for (let bytes = 0; bytes < whole.length; bytes += 37) {
      await writeFile(file, whole.subarray(0, bytes));
      expect((await run()).code).toBe(0);
      expect((await readFile(file)).equals(whole)).toBe(true);
    }
  });

  // More than what is read at once, and what one write has.
  it.each([100, 300_000, 1_200_000])("is the same after a loss of power that left %i zeros", async (zeros) => {
    await addFive();
    await run();
    const whole = await readFile(file);
    await writeFile(file, Buffer.concat([whole.subarray(0, 700), Buffer.alloc(zeros)]));
    expect((await run()).code).toBe(0);
    expect((await readFile(file)).equals(whole)).toBe(true);
  });

  it("refuses a file that goes on after zeros", async () => {
    await addFive();
    await run();
    const whole = await readFile(file);
    await writeFile(file, Buffer.concat([whole.subarray(0, 700), Buffer.alloc(600_000), whole.subarray(700)]));
    expect(await run()).toMatchObject(failing(1, "holds zeros"));
  });

  it("is the same after the service went away in the middle, and says so", async () => {
    await addFive();
    await run();
    const whole = await content();
    await rm(file);
    const [host = "", port] = product.env.ACCOUNTS_ADDRESS.split(":");
    const proxy = await startTcpProxy({ host, port: Number(port) });
    requests.splice(0);
    beforePage = () => {
      if (requests.length === 2) return proxy.cut();
    };
    const broken = await run(undefined, { env: { ACCOUNTS_ADDRESS: `127.0.0.1:${proxy.port}` } });
    expect(broken).toMatchObject(failing(1, "2 entries were added to the file. The same command goes on after them."));
    expect(broken.stderr).toContain("accounts cannot be reached at");
    expect(whole.startsWith(await content())).toBe(true);
    expect(await run()).toMatchObject({ code: 0, stderr: expect.stringContaining("Exported 3 entries") });
    expect(await content()).toBe(whole);
  });

  it.each<[name: string, code: number, text: RegExp, stop: (interrupting: AbortController) => void]>([
    [
      "an error of the service",
      1,
      /Something broke.* 2 entries were added/,
      () => {
        throw new AppError("internal_error", "Something broke");
      },
    ],
    [
      "Ctrl-C",
      130,
      /Interrupted. 2 entries were added to the file. The same command goes on after them./,
      (interrupting) => interrupting.abort(),
    ],
  ])("has a file to continue after %s", async (_, code, text, stop) => {
    await addFive();
    const interrupting = new AbortController();
    beforePage = () => {
      if (requests.length === 2) stop(interrupting);
    };
    const stopped = await run(undefined, { interrupted: interrupting.signal });
    expect(stopped).toMatchObject({ code, stderr: expect.stringMatching(text) });
    expect(idsIn(await content())).toEqual(["a", "b"]);
    await run();
    expect(idsIn(await content())).toEqual(["a", "b", "c", "d", "e"]);
  });

  it("keeps one page in memory: each is in the file before the next is read", async () => {
    pageSize = 1_000;
    await product.db.query(
      `insert into accounts.audit_entries (id, brand_id, action, fields, request_id, created_at)
     select 'aud_' || lpad(n::text, 6, '0'), 'brd_1', 'key.revoke', '{}', 'req_1', $1 from generate_series(1, 5000) n`,
      [at(0)],
    );
    const sizes: number[] = [];
    beforePage = async () => void sizes.push((await stat(file)).size);
    await run();
    const { length } = await content();
    expect(sizes).toEqual(sizes.map((_, page) => (length / 5) * page));
    expect(sizes).toHaveLength(5);
  });

  it("refuses a second export into the file meanwhile, and not afterwards", async () => {
    await addFive();
    let second: Outcome | undefined;
    beforePage = async () => {
      second ??= await run();
    };
    expect((await run()).code).toBe(0);
    expect(second).toMatchObject(failing(1, `Another export writes into ${file}. Nothing was exported.`));
    await symlink(file, join(folder, "other.ndjson"));
    second = undefined;
    beforePage = async () => {
      second ??= await run(["--out", join(folder, "other.ndjson")]);
    };
    await run();
    expect(second).toMatchObject(failing(1, "Another export writes into"));
    expect(idsIn(await content())).toEqual(["a", "b", "c", "d", "e"]);
  });

  it("is not held up by an export that was killed", async () => {
    await addFive();
    const hold = `const lock = new (require("node:sqlite").DatabaseSync)(process.argv[1]); lock.exec("begin exclusive"); console.log("locked"); setInterval(() => {}, 1e9)`;
    const other = spawn(process.execPath, ["--eval", hold, `${file}.lock`], { stdio: ["ignore", "pipe", "inherit"] });
    await once(other.stdout, "data");
    expect((await run()).stderr).toContain("Another export writes into");
    other.kill("SIGKILL");
    await once(other, "exit");
    expect((await run()).code).toBe(0);
  });

  const LINE = `{"id":"aud_x","brand_id":"brd_1","action":"key.revoke","created_at":"2026-11-21T08:30:00.000Z","finished_at":null}\n`;

  it.each([
    ["a text", "Shopping list\n", "line 1 is no entry"],
    ["a text without an end of a line", "Shopping list", "it ends with what is no beginning of an entry"],
    ["JSON of something else", '{"id":"sub_1"}\n', "line 1 is no entry"],
    ["an entry without a time", '{"id":"aud_x","brand_id":"brd_1","action":"key.revoke"}\n', "line 1 is no entry"],
    ["an export with a damaged line", `${LINE}{"id":"aud_y\n`, "line 2 is no entry"],
    ["an export twice", `${LINE}${LINE}`, "line 2 is not after the line before it"],
    ["an export and something else", `${LINE}the end`, "it ends with what is no beginning of an entry"],
    ["a blank line", "\n", "line 1 is no entry"],
    ["one very long line", `{"id":"aud_${"x".repeat(70_000)}`, "line 1 is longer than an entry"],
  ])("refuses %s, and leaves it as it is", async (_, text, reason) => {
    await addFive();
    await writeFile(file, text);
    expect(await run()).toMatchObject(failing(1, `is no export of the audit log: ${reason}. It was left as it is.`));
    expect(await content()).toBe(text);
    expect(requests).toEqual([]);
  });

  it("continues an export of a release with other fields", async () => {
    await addFive();
    await writeFile(file, LINE);
    expect((await run()).code).toBe(0);
    expect(idsIn(await content())).toEqual(["x", "b", "c", "d", "e"]);
  });

  it("refuses a file that is ahead of the database's clock", async () => {
    await addFive();
    await run();
    changed = { settled_until: at(2) };
    expect(await run()).toMatchObject(failing(1, `The file ends with an entry of ${at(3)}, and accounts has entries up to ${at(2)} only`));
  });

  it.each([
    ["missing/audit.ndjson", "/missing/audit.ndjson cannot be written: its folder does not exist."],
    ["", " is no export of the audit log: it is no file."],
    // The superuser makes no files there, either.
    ["/sys/audit.ndjson", "/sys/audit.ndjson cannot be written: "],
  ])("says why a file cannot be written: %j", async (name, text) => {
    expect(await run(["--out", resolve(folder, name)])).toMatchObject(failing(1, text));
  });

  it("keeps complete lines if the disk is full", async () => {
    await addFive();
    await run();
    const whole = await content();
    await rm(file);
    const handle = await open(folder, "r");
    const prototype = Object.getPrototypeOf(handle) as { write(buffer: Buffer, ...place: number[]): Promise<unknown> };
    await handle.close();
    const { write } = prototype;
    let pages = 0;
    prototype.write = async function (buffer, offset = 0, length = 0, position = 0) {
      pages += 1;
      const isFull = pages === 2;
      const written = await write.call(this, buffer, offset, isFull ? 10 : length, position);
      if (isFull) throw Object.assign(new Error("write"), { code: "ENOSPC" });
      return written;
    };
    try {
      const expected = `${file} cannot be written: the disk is full. 2 entries were added to the file. The same command goes on after them.`;
      expect(await run()).toMatchObject(failing(1, expected));
    } finally {
      prototype.write = write;
    }
    expect(await content()).toBe(
      whole
        .split(/(?<=\n)/)
        .slice(0, 2)
        .join(""),
    );
    await run();
    expect(await content()).toBe(whole);
  });
});
