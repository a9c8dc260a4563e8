import { eventually } from "@brand-records/testkit";
import { callContext } from "../stack.ts";
import { Recording, type Send } from "./recording.ts";
import { sendAssistants } from "./requests/assistants.ts";
import { sendConsole } from "./requests/console.ts";
import { sendRest } from "./requests/rest.ts";
import { BRAND, startRecordedSystem, type RecordedSystem } from "./system.ts";

/**
 * One promise: what callers see (status, headers, errors, the fields of records) stays as it is unless somebody decides otherwise.
 * `RECORD=1 npx jest test/recorded` writes the answers; read the diff.
 */

/** When a key was used is shown with a delay. */
async function keysAreUsed({ stack }: RecordedSystem): Promise<void> {
  await eventually(
    async () => {
      const { keys } = await stack.accounts.listKeys({ brand_id: BRAND.id, ids: [] }, callContext());
      expect(keys.map(({ last_used_at }) => last_used_at)).toEqual([expect.any(String), expect.any(String)]);
    },
    { timeoutMs: 60_000 },
  );
}

const GROUPS: readonly (readonly [name: string, send: (send: Send, system: RecordedSystem) => Promise<void>])[] = [
  ["rest", sendRest],
  ["assistants", sendAssistants],
  [
    "console",
    async (send, recorded) => {
      await keysAreUsed(recorded);
      await sendConsole(send, recorded);
    },
  ],
];

let system: RecordedSystem;

beforeAll(async () => {
  system = await startRecordedSystem();
});
afterAll(async () => {
  await system?.stack.stop();
});

it.each(GROUPS)("the answers of %s are those recorded", async (name, sendAll) => {
  const recording = new Recording(name);
  await sendAll(recording.of(name === "console" ? system.consoleUrl : system.stack.url), system);
  if (process.env["RECORD"] === "1") recording.store();
  expect(recording.entries).toEqual(recording.stored());
});

it("at least 130 are recorded", () => {
  const stored = GROUPS.flatMap(([name]) => new Recording(name).stored());
  expect(stored.length).toBeGreaterThanOrEqual(130);
});
