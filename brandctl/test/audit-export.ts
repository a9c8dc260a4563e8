import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AuditEntry } from "@brand-records/proto/accounts/v1";
import { FakeAudit } from "./fake-audit.ts";
import { serve } from "./serve.ts";
import { brandctl, type Outcome, type Surroundings } from "./test-terminal.ts";

export interface AuditExport {
  readonly audit: FakeAudit;
  /** Address of accounts. */
  readonly address: string;
  readonly folder: string;
  /** In the folder; it does not exist yet. */
  readonly file: string;
  /** Runs `brandctl audit export`. Default: into the file. */
  run(args?: string[], surroundings?: Surroundings): Promise<Outcome>;
  /** Adds the entries a to e: the second and third have the same time. */
  addFive(): void;
  /** Reads the file. */
  content(): Promise<string>;
  stop(): Promise<void>;
}

/** Serves an audit log, and makes a folder for its exports. */
export async function serveAuditExport(): Promise<AuditExport> {
  const audit = new FakeAudit();
  const { address, stop } = await serve(...audit.served);
  const folder = await mkdtemp(join(tmpdir(), "audit-export-"));
  const file = join(folder, "audit.ndjson");
  return {
    audit,
    address,
    folder,
    file,
    run: (args = ["--out", file], surroundings = {}) =>
      brandctl(["audit", "export", ...args], { env: { ACCOUNTS_ADDRESS: address }, ...surroundings }),
    addFive() {
      for (const [index, second] of [0, 1, 1, 2, 3].entries())
        audit.entries.push(entryOf("abcde"[index] ?? "", { created_at: at(second) }));
    },
    content: () => readFile(file, "utf8"),
    async stop() {
      await stop();
      await rm(folder, { recursive: true });
    },
  };
}

export const at = (second: number): string => `2026-11-21T08:30:${String(second).padStart(2, "0")}.000Z`;

export const entryOf = (id: string, more: Partial<AuditEntry> = {}): AuditEntry => ({
  id: `aud_${id}`,
  brand_id: "brd_1",
  action: "key.revoke",
  subject_id: "key_1",
  fields: [],
  request_id: "req_1",
  created_at: at(0),
  tries: 1,
  ...more,
});

/** The ids of an export's lines, without their prefix. */
export const idsIn = (text: string): string[] =>
  text
    .split("\n")
    .filter(Boolean)
    .map((line) => (JSON.parse(line) as AuditEntry).id.slice(4));
