import fc from "fast-check";
import { altered, BROKEN, MESSAGES, type Message } from "../../test/sample-messages.ts";
import { EVENT_TYPE_NAMES, EVENT_TYPES } from "./event-types.ts";
import { EVENT_MESSAGE_BYTES_MAX, readEventMessage, sampleData, UnreadableMessage } from "./event-message.ts";

const bytes = (message: unknown): Buffer => Buffer.from(typeof message === "string" ? message : JSON.stringify(message));
const read = (message: unknown) => readEventMessage(Buffer.isBuffer(message) ? message : bytes(message));
const refusal = (message: unknown): string => {
  try {
    read(message);
  } catch (error) {
    expect(error).toBeInstanceOf(UnreadableMessage);
    return (error as UnreadableMessage).message;
  }
  throw new Error("the message was read");
};

const PAID = MESSAGES["payout.paid"];
/** The message as text, with `json` added at the end of `data`. */
const paidWith = (json: string): string => JSON.stringify(PAID).replace(/\}\}$/, `,${json}}}`);

describe("a message", () => {
  it.each(Object.entries(MESSAGES))("of %s with its declared example is read, and the data kept as written", (type, message) => {
    const { event, dataJson } = read(message);
    expect(event).toEqual(message);
    expect(event.type).toBe(type);
    expect(dataJson).toBe(JSON.stringify(message["data"]));
  });

  it("is read in the form in which Postgres writes JSON, with spaces around colons", () => {
    const text = JSON.stringify(PAID).replaceAll('":', '" : ').replaceAll(',"', ', "');
    expect(read(text).event).toEqual(PAID);
  });

  it.each([
    ["submission.approved", "reviewed_at"],
    ["submission.rejected", "rejection_code"],
    ["payout.paid", "paid_at"],
    ["campaign.settled", "settled_at"],
  ] as const)("of %s may have null for %s", (type, field) => {
    const message = altered(MESSAGES[type], `data.${field}`, null);
    expect(read(message).event).toEqual(message);
  });

  it("may contain unknown fields of any name, which are passed on", () => {
    const text = paidWith(
      '"rail":{"name":"instapay","tries":[1,2]},"__proto__":{"x":1},"constructor":"y","naïve":"ñ😀","path":"C:\\\\u0000"',
    );
    const { event, dataJson } = read(text);
    expect(event.data).toMatchObject({ rail: { name: "instapay", tries: [1, 2] }, naïve: "ñ😀", path: "C:\\u0000" });
    expect(dataJson).toBe(text.slice(text.indexOf('"data":') + 7, -1));
    expect(read({ ...PAID, source: "kafka" }).event).toMatchObject({ source: "kafka" });
  });

  it("may have 20 KiB, and not a byte more", () => {
    const filled = (length: number): string => paidWith(`"more":"${"x".repeat(length - paidWith('"more":""').length)}"`);
    expect(bytes(filled(EVENT_MESSAGE_BYTES_MAX))).toHaveLength(20_480);
    expect(read(filled(EVENT_MESSAGE_BYTES_MAX)).event.id).toBe(PAID["id"]);
    expect(refusal(filled(EVENT_MESSAGE_BYTES_MAX + 1))).toBe("too large: 20481 bytes, at most 20480");
    // Bytes, not characters.
    const wide = paidWith(`"more":"${"ñ".repeat(10_200)}"`);
    expect(wide.length).toBeLessThan(EVENT_MESSAGE_BYTES_MAX);
    expect(refusal(wide)).toMatch(/^too large: /);
  });
});

describe("readEventMessage refuses", () => {
  it.each(BROKEN)("%s", (_, message) => {
    // The reason repeats no value of the message.
    expect(refusal(message)).not.toContain("secret");
  });

  it.each<[string, unknown, string]>([
    ["an empty one", "", "not JSON"],
    ["text", "submission.approved", "not JSON"],
    ["half a message", JSON.stringify(PAID).slice(0, -1), "not JSON"],
    ["two messages", `${JSON.stringify(PAID)}${JSON.stringify(PAID)}`, "not JSON"],
    ["UTF-16", Buffer.from(JSON.stringify(PAID), "utf16le"), "not JSON"],
    ["Latin-1", Buffer.from(paidWith('"name":"Niño"'), "latin1"), "not UTF-8"],
    ["a character cut in two", bytes('{"id":"ñ').subarray(0, -1), "not UTF-8"],
    ["a surrogate in UTF-8", Buffer.concat([bytes('"'), Buffer.from([0xed, 0xa0, 0x80]), bytes('"')]), "not UTF-8"],
    ["a NUL byte", paidWith('"more":"\0"'), "not JSON"],
    ["a written NUL", paidWith('"more":"a\\u0000b"'), "contains a NUL"],
    ["a written NUL in a name", paidWith('"a\\u0000":1'), "contains a NUL"],
    ["a written NUL behind a backslash", paidWith('"more":"\\\\\\u0000"'), "contains a NUL"],
    ["half a surrogate pair", paidWith('"more":["\\ud83d"]'), "contains half a surrogate pair"],
    ["a number out of range", paidWith('"more":1e999'), "contains a number out of range"],
    ["a value nested a hundred levels deep", paidWith(`"more":${"[".repeat(100)}${"]".repeat(100)}`), "nests deeper than 32"],
    ["a value nested ten thousand levels deep", `${"[".repeat(10_000)}${"]".repeat(10_000)}`, "nests deeper than 32"],
    ["null", "null", "the message Invalid input: expected object, received null"],
    ["a list", [PAID], "the message Invalid input: expected object, received array"],
    ["the year 0", altered(PAID, "created_at", "0000-01-01T00:00:00.000Z"), "created_at is a time that does not exist"],
    ["a day that does not exist", altered(PAID, "data.paid_at", "2026-02-30T00:00:00.000Z"), "data.paid_at is a time that does not exist"],
    [
      "another resource",
      altered(PAID, "data.resource", "links"),
      `data.resource must be one of ${[...new Set(Object.values(EVENT_TYPES).map(({ resource }) => resource))].join(", ")}`,
    ],
    ["a resource of another type", altered(PAID, "type", "campaign.settled"), "data.resource must be campaigns for campaign.settled"],
    [
      "a status of another type",
      altered(MESSAGES["submission.approved"], "type", "submission.rejected"),
      "data.status does not fit submission.rejected",
    ],
    ["a wrong id", altered(PAID, "brand_id", "brand-1"), "brand_id must be brd_ and 1 to 40 lower-case letters or digits"],
  ])("%s, and gives the reason", (_, message, reason) => {
    expect(refusal(message)).toBe(reason);
  });

  it("a message with many faults, and names five", () => {
    expect(refusal({ data: { resource: "payouts" } }).split("; ")).toHaveLength(5);
  });
});

describe("any input", () => {
  /** Reads the message or refuses it without repeating its contents. */
  const judge = (value: Buffer): void => {
    try {
      readEventMessage(value);
    } catch (error) {
      if (!(error instanceof UnreadableMessage)) throw error;
      expect(error.message).not.toContain("secret");
      expect(error.message.length).toBeLessThan(1_000);
    }
  };

  it("of bytes is read or refused", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (array) => judge(Buffer.from(array))),
      { numRuns: 2_000 },
    );
  });

  it("of JSON is read or refused", () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), (json) => judge(bytes(json))),
      { numRuns: 1_000 },
    );
  });

  it("of messages with an added field is read or refused", () => {
    const names = fc.constantFrom("id", "type", "data", "created_at", "__proto__", "constructor", "toString", "secret");
    const values = fc.oneof(fc.jsonValue({ maxDepth: 3 }), fc.constantFrom<unknown>("secret", -1, 1e21, "", [], {}, null));
    fc.assert(
      fc.property(fc.constantFrom(...Object.values(MESSAGES)), names, values, fc.boolean(), (message, name, value, within) => {
        const entry = `${JSON.stringify(name)}:${JSON.stringify(value)}`;
        const text = JSON.stringify(message);
        // Written as text: an object literal cannot get a field named __proto__.
        judge(bytes(within ? text.replace(/\}\}$/, `,${entry}}}`) : text.replace(/\}$/, `,${entry}}`)));
      }),
      { numRuns: 2_000 },
    );
  });

  it("of messages with a changed byte is read or refused", () => {
    fc.assert(
      fc.property(fc.constantFrom<Message>(...Object.values(MESSAGES)), fc.nat(), fc.integer({ min: 0, max: 255 }), (message, at, byte) => {
        const value = bytes(message);
        value[at % value.length] = byte;
        judge(value);
      }),
      { numRuns: 2_000 },
    );
  });
});

const NOW = "2026-11-21T08:30:00.000Z";

it.each(EVENT_TYPE_NAMES)("the sample of %s is a valid event message of a record that does not exist", (type) => {
  const data = sampleData(type, NOW);
  const message = { id: "evt_1", type, created_at: NOW, brand_id: "brd_1", data };
  expect(readEventMessage(Buffer.from(JSON.stringify(message)))).toMatchObject({ event: message, dataJson: JSON.stringify(data) });
  expect(data.id).toMatch(/^[a-z]+_test$/);
  expect(data.campaign_id).toBe("cmp_test");
});
