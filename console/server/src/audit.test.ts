import { AppError, type ErrorKind } from "@brand-records/errors";
import { newCallContext } from "@brand-records/rpc";
import { openLog } from "@brand-records/telemetry";
import { runAudited } from "./audit.ts";
import { MEMBERS } from "./operations/members.ts";

/** Outcomes that the audit log got. */
let finished: string[];
beforeEach(() => {
  finished = [];
});

const audit = {
  appendAudit: async () => ({ entry: { id: "aud_1" } }),
  finishAudit: async ({ outcome }: { outcome: string }) => void finished.push(outcome),
};
const actor = {
  brand: { brand_id: "brd_1" },
  person: { email: "ana@ulap.example", via: null },
  address: "203.0.113.7",
  call: newCallContext(5_000, "test"),
};
const input = { brand_id: "brd_1", email: "ana@ulap.example", role: "member" } as const;

const failWith = async (kind: ErrorKind): Promise<void> => {
  const deps = { services: { audit } as never, log: openLog("console", "silent") };
  const change = (): Promise<never> => Promise.reject(new AppError(kind, "refused"));
  await expect(runAudited(deps, MEMBERS["members.set_role"].audit, actor, input, change)).rejects.toMatchObject({ kind });
};

it.each(["unavailable", "timeout", "internal_error"] as const)("is unknown after %s: the change may have been made", async (kind) => {
  await failWith(kind);
  expect(finished).toEqual(["unknown"]);
});

it.each(["owner_required", "last_owner"] as const)("is failed after %s: a restore takes nothing away by it", async (kind) => {
  await failWith(kind);
  expect(finished).toEqual(["failed"]);
});
