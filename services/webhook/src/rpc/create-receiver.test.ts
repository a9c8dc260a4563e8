import { EVENT_TYPE_NAMES } from "@brand-records/resources";
import { openPool } from "@brand-records/postgres";
import type { Receiver } from "@brand-records/proto/webhook/v1";
import { SealBroken } from "../domain/secret-keys.ts";
import { openSigningSecret } from "../domain/signing-secret.ts";
import { callContext, newBrand, present, receiverInput, secretKey, useReceivers } from "../../test/serve-receivers.ts";

const served = useReceivers([8443]);

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const create = (...input: Parameters<typeof receiverInput>) => served.receivers.createReceiver(receiverInput(...input), callContext());
const list = async (brand_id: string): Promise<Receiver[]> => (await served.receivers.listReceivers({ brand_id }, callContext())).receivers;

interface Row {
  readonly secret: Buffer;
  readonly secret_key_id: number;
}

const rowOf = async (id: string): Promise<Row> =>
  present((await served.db.query<Row>("select secret, secret_key_id from webhook.receivers where id = $1", [id]))[0]);

const openRow = async (id: string, owner = id): Promise<string> => {
  const { secret, secret_key_id } = await rowOf(id);
  return openSigningSecret(served.deps.keys, owner, { sealed: secret, keyId: secret_key_id });
};

describe("a new receiver", () => {
  it("is returned with its secret, enabled and without a history", async () => {
    const brand = newBrand();
    const url = "https://Hooks.Brand.Example:8443/ü?token=x";
    const made = await create(brand, { url, label: "  Ledger of Ñora 😀 ", events: ["payout.paid", "campaign.settled"] });
    expect(made).toEqual({
      receiver: {
        id: expect.stringMatching(/^rcv_[0-9a-z]{26}$/),
        brand_id: brand,
        url: "https://hooks.brand.example:8443/%C3%BC?token=x",
        label: "Ledger of Ñora 😀",
        events: ["payout.paid", "campaign.settled"],
        enabled: true,
        disabled_reason: null,
        disabled_at: null,
        last_status: null,
        last_outcome: null,
        paused_until: null,
        failures_in_a_row: 0,
        last_delivery_at: null,
        failures: 0,
        max_in_flight: 64,
        rotating: false,
        next_secret_at: null,
        next_secret_accepted_at: null,
        waiting: 0,
        waiting_due: 0,
        in_flight: 0,
        created_at: expect.stringMatching(TIME),
        updated_at: made.receiver?.created_at,
      },
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
    });
    expect(await served.get(present(made.receiver))).toEqual(made.receiver);
    expect(await list(brand)).toEqual([made.receiver]);
  });

  it("is listed oldest first", async () => {
    const brand = newBrand();
    const made = [await served.create(brand), await served.create(brand), await served.create(brand)];
    expect(await list(brand)).toEqual(made);
    await served.db.query("update webhook.receivers set created_at = '2020-01-01' where id = $1", [made[2]?.id]);
    expect((await list(brand)).map(({ id }) => id)).toEqual([made[2], made[0], made[1]].map((receiver) => receiver?.id));
  });
});

describe("the signing secret", () => {
  it("is stored sealed under the newest key, and nowhere in plain text or as bytes", async () => {
    const { receiver, secret } = await create(newBrand());
    const { id } = present(receiver);
    expect((await rowOf(id)).secret_key_id).toBe(2);
    expect(await openRow(id)).toBe(secret);
    const [row] = await served.db.query<{ text: string }>("select r::text as text from webhook.receivers r where id = $1", [id]);
    const plain = Buffer.from(secret);
    const bytes = Buffer.from(secret.slice(6), "base64");
    for (const form of [secret, secret.slice(6), plain.toString("hex"), bytes.toString("hex"), plain.toString("base64")]) {
      expect(present(row).text).not.toContain(form);
    }
    const tables = await served.db.query<{ name: string }>(
      "select c.oid::regclass::text as name from pg_class c where c.relnamespace = 'webhook'::regnamespace and c.relkind = 'r'",
    );
    expect(tables.map(({ name }) => name)).toContain("webhook.receivers");
    for (const { name } of tables) {
      const found = await served.db.query(
        `select from ${name} t where strpos(t::text, $1) > 0 or strpos(t::text, $2) > 0 or strpos(t::text, $3) > 0`,
        [secret.slice(6), plain.toString("hex"), bytes.toString("hex")],
      );
      expect([name, found]).toEqual([name, []]);
    }
  });

  it("opens neither in another receiver's row nor under another key with the same id", async () => {
    const [original, other] = [await served.create(newBrand()), await served.create(newBrand())];
    await served.db.query(
      "update webhook.receivers r set secret = m.secret, secret_key_id = m.secret_key_id from webhook.receivers m where r.id = $1 and m.id = $2",
      [other.id, original.id],
    );
    await expect(openRow(other.id)).rejects.toThrow(SealBroken);
    await expect(openRow(other.id, original.id)).resolves.toMatch(/^whsec_/);
    const { secret, secret_key_id } = await rowOf(original.id);
    const sealed = { sealed: secret, keyId: secret_key_id };
    expect(() => openSigningSecret([secretKey(2)], original.id, sealed)).toThrow(SealBroken);
    expect(() => openSigningSecret([secretKey(3)], original.id, sealed)).toThrow("key 2, which is not configured");
  });

  it("is in no response of another call and in no log line", async () => {
    const brand = newBrand();
    const { receiver, secret } = await create(brand);
    const { id } = present(receiver);
    const of = { brand_id: brand, receiver_id: id };
    const responses = [
      await list(brand),
      await served.receivers.getReceiver(of, callContext()),
      await served.receivers.updateReceiver({ ...of, label: "x", events: [] }, callContext()),
      await served.receivers.disableReceiver(of, callContext()),
      await served.receivers.enableReceiver({ ...of, held: "drop" }, callContext()),
      await served.receivers.deleteReceiver(of, callContext()),
    ];
    expect(JSON.stringify(responses)).not.toContain(secret.slice(6));
    expect(served.logged()).toContain("DeleteReceiver");
    expect(served.logged()).not.toContain(secret.slice(6));
  });
});

describe("is refused", () => {
  it.each([
    ["http://hooks.brand.example/", "not_https"],
    ["https://127.0.0.1/", "private_address"],
    ["https://localhost/", "private_address"],
    ["https://[::ffff:10.0.0.1]/", "private_address"],
    ["https://discord.com/api/webhooks/1/x", "chat_webhook"],
    ["https://hooks.slack.com/services/x", "chat_webhook"],
    ["https://ana@hooks.brand.example/", "invalid_request"],
    ["https://hooks.brand.example:8444/", "invalid_request"],
    ["https://hooks.brand.example/".padEnd(2_049, "x"), "invalid_request"],
    ["", "invalid_request"],
  ])("the URL %s, as %s", async (url, kind) => {
    const brand = newBrand();
    await expect(create(brand, { url })).rejects.toMatchObject({ kind, field: "url", message: expect.stringMatching(/^url /) });
    expect(await list(brand)).toEqual([]);
  });

  it.each([
    ["empty", ""],
    ["of spaces", "   "],
    ["of 81 characters", "x".repeat(81)],
    ["of 81 characters, each two code units in JavaScript", "😀".repeat(81)],
    ["with a line break", "a\nb"],
    ["with a NUL", "a\0b"],
    ["with an escape", "a\u001b[2J"],
    ["with a C1 control", "a\u0085b"],
    ["of one zero-width space", "\u200B"],
    ["that turns text around", "Ledger \u202Eevil"],
  ])("a label %s", async (_, label) => {
    await expect(create(newBrand(), { label })).rejects.toMatchObject({ kind: "invalid_request", field: "label" });
  });

  it.each(["x", "x".repeat(80), "😀".repeat(80), "名前", "é", "a b"])("unless valid: accepts the label %s", async (label) => {
    expect(await served.create(newBrand(), { label })).toMatchObject({ label });
  });

  it.each([
    ["none", "events", []],
    ["an unknown type", "events.0", ["payout.failed"]],
    ["a type in capitals", "events.0", ["Payout.paid"]],
    ["an unknown type among known ones", "events.1", ["payout.paid", "ping"]],
    ["a property of every object", "events.0", ["toString"]],
    ["a type twice", "events", ["payout.paid", "payout.paid"]],
    ["one more than there are", "events", [...EVENT_TYPE_NAMES, "payout.paid"]],
  ])("event types: %s", async (_, field, events) => {
    await expect(create(newBrand(), { events })).rejects.toMatchObject({ kind: "invalid_request", field });
  });

  it.each([[["campaign.settled"]], [[...EVENT_TYPE_NAMES]]])("unless valid: accepts the event types %j", async (events) =>
    expect(await served.create(newBrand(), { events })).toMatchObject({ events }),
  );

  it.each(["", "1", "brd_", "brd_A", "rcv_1", "brd_1\0", `brd_${"x".repeat(41)}`])("the brand %j", async (brand) => {
    await expect(create(brand)).rejects.toMatchObject({ kind: "invalid_request", field: "brand_id" });
    await expect(list(brand)).rejects.toMatchObject({ kind: "invalid_request", field: "brand_id" });
  });

  it("an unknown brand", async () => {
    const brand = newBrand();
    served.brands.unknown.add(brand);
    await expect(create(brand)).rejects.toMatchObject({ kind: "not_found", field: "brand_id" });
    served.brands.unknown.delete(brand);
    expect((await create(brand)).receiver).toMatchObject({ brand_id: brand });
  });

  it("with every problem in one error, including those of the URL", async () => {
    await expect(create("1", { url: "http://127.0.0.1:1/#x", label: "", events: ["x"] })).rejects.toMatchObject({
      kind: "invalid_request",
      field: "brand_id",
      details: [
        { field: "brand_id" },
        { field: "url", message: expect.stringContaining("https") },
        { field: "url", message: expect.stringContaining("public") },
        { field: "url", message: expect.stringContaining("fragment") },
        { field: "label" },
        { field: "events.0" },
      ],
    });
    await expect(create(newBrand(), { url: "http://hooks.brand.example", label: "" })).rejects.toMatchObject({
      kind: "invalid_request",
      details: [{ field: "url" }, { field: "label" }],
    });
  });

  it("as not_https if the address is private as well, with both problems", async () => {
    await expect(create(newBrand(), { url: "http://127.0.0.1/" })).rejects.toMatchObject({
      kind: "not_https",
      details: [{ field: "url" }, { field: "url", message: expect.stringContaining("public") }],
    });
  });
});

describe("a URL", () => {
  it("is unique per brand, in every spelling, even at the limit", async () => {
    const brand = newBrand();
    const url = "https://hooks.brand.example/one/two";
    await served.create(brand, { url });
    const spellings = ["HOOKS.brand.example:443/one/two", "hooks.brand.example/x/../one/./two", "hooks.brand.example./%6fne/%74w%6F"];
    for (const spelling of [url, ...spellings.map((rest) => `https://${rest}`)]) {
      await expect(create(brand, { url: spelling })).rejects.toMatchObject({ kind: "duplicate_url", field: "url" });
    }
    for (let i = 1; i < 20; i += 1) await served.create(brand);
    await expect(create(brand, { url })).rejects.toMatchObject({ kind: "duplicate_url" });
    expect(await list(brand)).toHaveLength(20);
  });

  it("may be another brand's, and differs by the case of its path, its query or its port", async () => {
    const brand = newBrand();
    const url = "https://hooks.brand.example/one";
    await served.create(newBrand(), { url });
    for (const other of [
      url,
      `${url}?`,
      `${url}?a`,
      `${url}/`,
      "https://hooks.brand.example/One",
      "https://hooks.brand.example:8443/one",
    ]) {
      expect(await served.create(brand, { url: other })).toMatchObject({ url: other });
    }
  });

  it("makes one receiver from 20 concurrent calls", async () => {
    const brand = newBrand();
    const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => create(brand, { url: "https://hooks.brand.example/" })));
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const outcome of outcomes) {
      if (outcome.status === "rejected") expect(outcome.reason).toMatchObject({ kind: "duplicate_url" });
    }
    expect(await list(brand)).toHaveLength(1);
  });

  it("of the maximum length is stored even if it is incompressible", async () => {
    const [row] = await served.db.query<{ noise: string }>(
      "select string_agg(encode(sha256(n::text::bytea), 'hex'), '') as noise from generate_series(1, 32) n",
    );
    const url = `https://hooks.brand.example/${present(row).noise}`.slice(0, 2_048);
    expect(url).toHaveLength(2_048);
    expect(await served.create(newBrand(), { url })).toMatchObject({ url });
  });

  it("is in no refusal and no log line beyond its host, because it may carry a token", async () => {
    const brand = newBrand();
    const url = "https://hooks.brand.example/tok3n-in-path?tok3n-in-query";
    await served.create(brand, { url });
    const more = await served.create(brand);
    const refusals = [
      create(brand, { url }),
      create(brand, { url: `${url}#x` }),
      create(brand, { url: url.replace("https", "http") }),
      create(brand, { url: url.replace("hooks.brand.example", "127.0.0.1") }),
      create(brand, { url, label: "" }),
      served.receivers.updateReceiver({ brand_id: brand, receiver_id: more.id, url, events: [] }, callContext()),
    ];
    for (const outcome of await Promise.allSettled(refusals)) {
      expect(outcome.status).toBe("rejected");
      const { kind, message, field, details } = (outcome as PromiseRejectedResult).reason;
      expect(JSON.stringify({ kind, message, field, details })).not.toContain("tok3n");
    }
    expect(served.logged()).toContain("duplicate_url");
    expect(served.logged()).not.toContain("tok3n");
  });
});

describe("a brand", () => {
  it("has at most 20 receivers: with 15, exactly 5 of 30 concurrent calls succeed", async () => {
    const brand = newBrand();
    for (let i = 0; i < 15; i += 1) await served.create(brand);
    const outcomes = await Promise.allSettled(Array.from({ length: 30 }, () => create(brand)));
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(5);
    for (const outcome of outcomes) {
      if (outcome.status === "rejected") expect(outcome.reason).toMatchObject({ kind: "receiver_limit" });
    }
    expect(await list(brand)).toHaveLength(20);
    const [lanes] = await served.db.query<{ count: number }>(
      "select count(*) from webhook.lanes l join webhook.receivers r on r.id = l.receiver_id where r.brand_id = $1",
      [brand],
    );
    expect(lanes).toEqual({ count: 20 });
  });

  it("at its limit does not affect other brands, and may add a receiver after deleting one", async () => {
    const [full, other] = [newBrand(), newBrand()];
    const first = await served.create(full);
    for (let i = 1; i < 20; i += 1) await served.create(full);
    await expect(create(full)).rejects.toMatchObject({ kind: "receiver_limit", message: expect.stringContaining("Delete one") });
    await served.create(other);
    await served.receivers.deleteReceiver({ brand_id: full, receiver_id: first.id }, callContext());
    await served.create(full);
    await expect(create(full)).rejects.toMatchObject({ kind: "receiver_limit" });
  });

  it("does not wait for another brand that adds receivers", async () => {
    const [locked, other] = [newBrand(), newBrand()];
    await served.create(locked);
    await served.create(other);
    await served.db.transaction(async (sql) => {
      await sql.query("select from webhook.brands where brand_id = $1 for update", [locked]);
      await served.create(other);
    });
  });

  it("that accounts cannot confirm gets no receiver, and the error says why", async () => {
    const db = openPool({ url: "postgres://127.0.0.1:1/none", applicationName: "test" });
    const { AppError } = await import("@brand-records/errors");
    const { createReceiver } = await import("../use-cases/receivers.ts");
    const brands = { isKnown: () => Promise.reject(new AppError("unavailable", "accounts is unavailable")) };
    const input = { brandId: newBrand(), url: "https://hooks.brand.example/", label: "x", events: ["payout.paid"] };
    await expect(createReceiver({ ...served.deps, db, brands }, input)).rejects.toMatchObject({ kind: "unavailable" });
    await db.stop();
  });
});
