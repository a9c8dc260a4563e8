import { readFile } from "node:fs/promises";
import { join } from "node:path";
import addFormats from "ajv-formats";
import { Ajv2020 } from "ajv/dist/2020.js";
import { BROKEN, MESSAGES } from "../../test/sample-messages.ts";
import { eventJsonSchema, readEventMessage } from "./event-message.ts";

const ROOT = join(import.meta.dirname, "../../../..");

const readSchema = async (): Promise<object> =>
  JSON.parse(await readFile(join(ROOT, "docs/schemas/brand-event.schema.json"), "utf8")) as object;

it("docs/schemas is up to date; if not, run npm run schemas", async () => {
  expect(await readSchema()).toEqual(JSON.parse(JSON.stringify(eventJsonSchema())));
});

describe("the schema", () => {
  let accepts: (message: unknown) => boolean;
  beforeAll(async () => {
    const ajv = new Ajv2020({ allErrors: true });
    addFormats.default(ajv);
    accepts = ajv.compile(await readSchema());
  });

  it.each(Object.entries(MESSAGES))("accepts a message of %s", (_, message) => {
    expect(accepts(message)).toBe(true);
  });

  it("accepts the example in docs/platform.md, as readEventMessage does", async () => {
    const page = await readFile(join(ROOT, "docs/platform.md"), "utf8");
    const [, shown = ""] = /^```json\n(\{\s+"id": "evt_.*?)^```$/ms.exec(page) ?? [];
    expect(accepts(JSON.parse(shown))).toBe(true);
    expect(readEventMessage(Buffer.from(shown)).event.type).toBe("payout.paid");
  });

  it("accepts fields that a later release may add", () => {
    const message = MESSAGES["payout.paid"];
    expect(accepts({ ...message, more: 1, data: { ...(message["data"] as object), rail: "instapay" } })).toBe(true);
  });

  it.each(BROKEN)("refuses, as readEventMessage does, %s", (_, message) => {
    expect(accepts(message)).toBe(false);
  });
});
