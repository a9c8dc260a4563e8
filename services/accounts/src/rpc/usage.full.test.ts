import { randomUUID } from "node:crypto";
import type { GetUsageRequest } from "@brand-records/proto/accounts/v1";
import { expectRefusal, servedAccounts, type TestBrand } from "../../test/serve-accounts.ts";

const MINUTE_MS = 60_000;

const served = servedAccounts();
let brand: TestBrand;
let key: string;
beforeEach(async () => {
  brand = await served.createBrand();
  key = (await served.createKey(brand)).id;
});

/** Midnight, so that hours and days begin there, a day ago. */
const START = Math.floor(Date.now() / 86_400_000) * 86_400_000 - 86_400_000;
const at = (minutes: number): string => new Date(START + minutes * MINUTE_MS).toISOString();
const count = (minutes: number, accepted: number, refused = 0, of = { brand_id: brand.id, key_id: key }) => ({
  ...of,
  minute: at(minutes),
  accepted,
  refused,
});
const record = async (minutes: ReturnType<typeof count>[], batch_id: string = randomUUID(), by = served): Promise<boolean> =>
  (await by.usage.recordUsage({ batch_id, minutes, clients: [], failures: [], requests: [] })).recorded;
const get = async (given: Partial<GetUsageRequest> = {}) => {
  const request = { brand_id: brand.id, from: at(0), to: at(1_440), bucket_minutes: 0, by_key: false, by_client: false, ...given };
  return (await served.usage.getUsage(request)).buckets;
};

it("adds up what several gateways count in a minute", async () => {
  await record([count(0, 5, 1), count(1, 2)]);
  await record([count(0, 10, 3), count(0, 1)]);
  expect(await get()).toEqual([
    { start: at(0), key_id: null, accepted: 16, refused: 4, peak_accepted: 16 },
    { start: at(1), key_id: null, accepted: 2, refused: 0, peak_accepted: 2 },
  ]);
});

it("adds a repeated batch once, also when its repetitions arrive together", async () => {
  const batch = randomUUID();
  expect(await record([count(0, 5)], batch)).toBe(true);
  expect(await record([count(0, 5)], batch)).toBe(false);
  const other = randomUUID();
  const recorded = await Promise.all(Array.from({ length: 6 }, () => record([count(1, 7)], other)));
  expect(recorded.filter(Boolean)).toHaveLength(1);
  expect((await get()).map(({ accepted }) => accepted)).toEqual([5, 7]);
});

it("lets many gateways add to the same minutes at once, in whatever order, and loses nothing", async () => {
  const keys = [key];
  for (let i = 0; i < 4; i += 1) keys.push((await served.createKey(brand)).id);
  const all = keys.flatMap((key_id) => Array.from({ length: 20 }, (_, minute) => count(minute, 1, 1, { brand_id: brand.id, key_id })));
  const other = await served.alsoWith({});
  await Promise.all(
    Array.from({ length: 12 }, (_, i) => record(i % 2 === 0 ? all : all.toReversed(), randomUUID(), i % 3 === 0 ? other : served)),
  );
  expect(await get({ bucket_minutes: 60 })).toEqual([{ start: at(0), key_id: null, accepted: 1_200, refused: 1_200, peak_accepted: 60 }]);
});

it("has by key the first page of the brand's keys, and those that count beside", async () => {
  await served.db.query(
    `insert into accounts.keys (id, brand_id, environment, name, permissions, hint, pepper_version, key_hash, created_by, created_at)
     select 'key_' || n || right(id, 20), brand_id, environment, name, permissions, hint, pepper_version, sha256((id || n)::bytea), created_by,
            created_at + interval '1 minute'
       from accounts.keys cross join generate_series(1, 200) n where id = $1`,
    [key],
  );
  const request = { brand_id: brand.id, from: at(0), to: at(60), bucket_minutes: 1, by_client: false };
  const keysOf = async (by_key: boolean) => (await served.usage.getUsage({ ...request, by_key })).keys.map(({ id }) => id);
  const { keys } = await served.accounts.listKeys({ brand_id: brand.id, ids: [] });
  const first = keys.map(({ id }) => id);
  expect([first.length, first.includes(key)]).toEqual([200, false]);
  expect([await keysOf(true), await keysOf(false)]).toEqual([first, []]);
  // Those of the first page count, too, and come before it.
  await record([...first.map((key_id) => count(0, 1, 0, { brand_id: brand.id, key_id })), count(59, 5)]);
  expect(await keysOf(true)).toEqual([...first, key]);
});

it("counts by key, and in larger buckets with their busiest minute", async () => {
  const second = (await served.createKey(brand)).id;
  const ofSecond = { brand_id: brand.id, key_id: second };
  await record([count(0, 5), count(0, 6, 0, ofSecond), count(59, 9, 2), count(60, 1, 0, ofSecond)]);
  expect(await get({ bucket_minutes: 60 })).toEqual([
    { start: at(0), key_id: null, accepted: 20, refused: 2, peak_accepted: 11 },
    { start: at(60), key_id: null, accepted: 1, refused: 0, peak_accepted: 1 },
  ]);
  expect(await get({ bucket_minutes: 60, by_key: true })).toEqual(
    [
      { start: at(0), key_id: key, accepted: 14, refused: 2, peak_accepted: 9 },
      { start: at(0), key_id: second, accepted: 6, refused: 0, peak_accepted: 6 },
      { start: at(60), key_id: second, accepted: 1, refused: 0, peak_accepted: 1 },
    ].toSorted((a, b) => (a.start + a.key_id < b.start + b.key_id ? -1 : 1)),
  );
});

it("begins buckets at `from`, such as a midnight in Manila, and ends before `to`", async () => {
  await record([count(479, 1), count(480, 2), count(1_439, 4)]);
  expect(await get({ from: at(480), to: at(1_439), bucket_minutes: 1_440 })).toEqual([
    { start: at(480), key_id: null, accepted: 2, refused: 0, peak_accepted: 2 },
  ]);
});

it("ignores keys that the brand does not have, and shows a brand nothing of another", async () => {
  const theirs = await served.createBrand();
  const theirKey = (await served.createKey(theirs)).id;
  await record([
    count(0, 1, 0, { brand_id: brand.id, key_id: theirKey }),
    count(0, 1, 0, { brand_id: theirs.id, key_id: key }),
    count(0, 1, 0, { brand_id: brand.id, key_id: "key_unknown" }),
    count(0, 8),
  ]);
  expect((await get()).map(({ accepted }) => accepted)).toEqual([8]);
  expect(await get({ brand_id: theirs.id })).toEqual([]);
  await expectRefusal(get({ brand_id: "brd_unknown" }), "not_found");
});

it("ignores minutes that are not kept, and those of a clock that is ahead", async () => {
  const now = Math.round((Date.now() - START) / MINUTE_MS);
  await record([count(now - 32 * 1_440, 1), count(now + 15, 1), count(now, 3), count(now + 5, 4)]);
  const rows = await served.db.query<{ accepted: number }>("select accepted from accounts.usage_minutes where brand_id = $1 order by 1", [
    brand.id,
  ]);
  expect(rows.map(({ accepted }) => accepted)).toEqual([3, 4]);
});

it.each([
  ["an empty range", { to: at(0) }, "to"],
  ["more than 3,000 buckets", { from: at(-3_001), to: at(0) }, "bucket_minutes"],
  ["a bucket of more than a day", { bucket_minutes: 1_441 }, "bucket_minutes"],
  ["a time that is not one", { from: "yesterday" }, "from"],
])("refuses %s", async (_, given, field) => {
  await expectRefusal(get(given), "invalid_request", field);
});

it("refuses a batch without an id, with a negative count, or too large, and records nothing of it", async () => {
  await expectRefusal(record([count(0, 1)], "1"), "invalid_request", "batch_id");
  await expectRefusal(record([count(0, 1), count(1, -1)]), "invalid_request", "minutes.1.accepted");
  const many = Array.from({ length: 5_001 }, () => count(0, 1));
  await expectRefusal(record(many), "invalid_request", "minutes");
  expect(await get()).toEqual([]);
});

describe("assistants", () => {
  /** Days in Manila, counted from that of START. */
  const day = (days: number): string => new Date(START + days * 86_400_000).toISOString().slice(0, 10);
  const client = (name: string, messages: number, days = 0, of = { brand_id: brand.id, key_id: key }) => ({
    ...of,
    day: day(days),
    name,
    messages,
    connecting: messages - 1,
  });
  const recordClients = async (clients: ReturnType<typeof client>[], by = served): Promise<void> => {
    await by.usage.recordUsage({ batch_id: randomUUID(), minutes: [], clients, failures: [], requests: [] });
  };
  const clientsOf = async (given: Partial<GetUsageRequest> = {}) => {
    // From midnight to midnight in Manila.
    const request = { brand_id: brand.id, from: at(-480), to: at(960), bucket_minutes: 0, by_key: false, by_client: true, ...given };
    return (await served.usage.getUsage(request)).clients;
  };

  it("are counted by key and the name that they declare, those with the most messages first, and what calls no tool apart", async () => {
    const second = (await served.createKey(brand)).id;
    await recordClients([client("cursor", 2), client("claude-code", 3)]);
    await recordClients([client("claude-code", 4), client("claude-code", 1, 0, { brand_id: brand.id, key_id: second })]);
    expect(await clientsOf()).toEqual([
      { key_id: key, name: "claude-code", messages: 7, connecting: 5 },
      { key_id: key, name: "cursor", messages: 2, connecting: 1 },
      { key_id: second, name: "claude-code", messages: 1, connecting: 0 },
    ]);
    expect(await clientsOf({ by_client: false })).toEqual([]);
  });

  it("are counted in every day of Manila that has a part in the range", async () => {
    await recordClients([client("yesterday", 1, -1), client("today", 1), client("tomorrow", 1, 1)]);
    expect((await clientsOf()).map(({ name }) => name)).toEqual(["today"]);
    expect((await clientsOf({ from: at(959), to: at(960) })).map(({ name }) => name)).toEqual(["today"]);
    expect((await clientsOf({ from: at(-481), to: at(961) })).map(({ name }) => name)).toEqual(["today", "tomorrow", "yesterday"]);
  });

  it("have 20 names a key and day, whatever gateways record at the same time; the rest is other", async () => {
    const other = await served.alsoWith({});
    const names = Array.from({ length: 60 }, (_, index) => client(`client-${String(index).padStart(2, "0")}`, 1));
    await recordClients([client("claude-code", 1)]);
    await Promise.all(
      Array.from({ length: 12 }, (_, i) =>
        recordClients([...names.slice(i * 5, i * 5 + 5), client("claude-code", 1)], i % 2 === 0 ? other : served),
      ),
    );
    const counted = await clientsOf();
    expect(counted).toHaveLength(21);
    expect(counted.slice(0, 2).map(({ name, messages }) => ({ name, messages }))).toEqual([
      { name: "other", messages: 41 },
      { name: "claude-code", messages: 13 },
    ]);
    expect(counted.reduce((sum, { messages }) => sum + messages, 0)).toBe(73);
    await recordClients([client("client-00", 1, 1)]);
    expect((await clientsOf({ from: at(960), to: at(2_400) })).map(({ name }) => name)).toEqual(["client-00"]);
  });

  it("that a client calls other count with the rest, and take no place", async () => {
    await recordClients([client("other", 1), ...Array.from({ length: 20 }, (_, index) => client(`client-${index}`, 2))]);
    expect(await clientsOf()).toHaveLength(21);
  });

  it("beyond 500 names are other, so that no message is missing", async () => {
    const second = (await served.createKey(brand)).id;
    const ofSecond = { brand_id: brand.id, key_id: second };
    for (let days = -29; days < 0; days += 1) {
      const names = Array.from({ length: 20 }, (_, index) => client(`client-${-days}-${index}`, 1, days));
      await recordClients(days === -29 ? [...names, client("late", 1, days, ofSecond)] : names);
    }
    const counted = await clientsOf({ from: at(-30 * 1_440 - 480), bucket_minutes: 1_440 });
    expect(counted.reduce((sum, { messages }) => sum + messages, 0)).toBe(581);
    expect(counted.filter(({ name }) => name === "other")).toEqual([
      { key_id: key, name: "other", messages: 80, connecting: 0 },
      { key_id: second, name: "other", messages: 1, connecting: 0 },
    ]);
  });

  it("of keys that the brand does not have, and of days that are not kept, are ignored", async () => {
    const theirs = await served.createBrand();
    await recordClients([
      client("a", 1, 0, { brand_id: theirs.id, key_id: key }),
      client("b", 1, 0, { brand_id: brand.id, key_id: "key_unknown" }),
      client("c", 1, -40),
      client("d", 1, 3),
      client("e", 1),
    ]);
    expect((await clientsOf({ from: at(-60_000), to: at(10_000), bucket_minutes: 1_440 })).map(({ name }) => name)).toEqual(["e"]);
    expect(await clientsOf({ brand_id: theirs.id })).toEqual([]);
  });

  it.each([
    ["a name that is too long", { name: "x".repeat(65) }, "clients.0.name"],
    ["an empty name", { name: "" }, "clients.0.name"],
    ["a control character", { name: "a\nb" }, "clients.0.name"],
    ["a day that is none", { day: "2026-02-30" }, "clients.0.day"],
    ["a negative count", { messages: -1 }, "clients.0.messages"],
  ])("are refused with %s", async (_, wrong, field) => {
    await expectRefusal(recordClients([{ ...client("a", 1), ...wrong }]), "invalid_request", field);
    expect(await clientsOf()).toEqual([]);
  });
});
