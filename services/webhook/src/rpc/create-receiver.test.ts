import { EVENT_TYPE_NAMES } from "@brand-records/resources";
import { AppError } from "@brand-records/errors";
import type { Receiver } from "@brand-records/proto/webhook/v1";
import { openSigningSecret } from "../domain/signing-secret.ts";
import { createReceiver } from "../use-cases/receivers.ts";
import { receiversHandlers } from "./receivers.ts";
import { callContext, keyOf, newBrand, present, receiverInput, useReceivers, recordNothing } from "../../test/serve-receivers.ts";

const served = useReceivers([8443]);

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const create = (...input: Parameters<typeof receiverInput>) => served.receivers.createReceiver(receiverInput(...input));
const list = async (brand_id: string): Promise<Receiver[]> => (await served.receivers.listReceivers({ brand_id })).receivers;

interface Row {
  readonly secret: Buffer;
  readonly secret_key_id: number;
}

const rowOf = async (id: string): Promise<Row> =>
  present((await served.db.query<Row>("select secret, secret_key_id from webhook.receivers where id = $1", [id]))[0]);

const openRow = async (id: string): Promise<string> => {
  const { secret, secret_key_id } = await rowOf(id);
  return openSigningSecret(served.deps.keys, id, { sealed: secret, keyId: secret_key_id });
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

  it("is in no response of another call and in no log line", async () => {
    const brand = newBrand();
    const { receiver, secret } = await create(brand);
    const { id } = present(receiver);
    const of = { brand_id: brand, receiver_id: id };
    const { getReceiver, updateReceiver, disableReceiver, enableReceiver, deleteReceiver } = served.receivers;
    const responses = [
      await list(brand),
      await getReceiver(of),
      await updateReceiver({ ...of, label: "x", events: [] }),
      await disableReceiver(of),
      await enableReceiver({ ...of, held: "drop" }),
      await deleteReceiver(of),
    ];
    expect(JSON.stringify(responses)).not.toContain(secret.slice(6));
    expect(served.logged()).toContain("DeleteReceiver");
    expect(served.logged()).not.toContain(secret.slice(6));
  });
});

describe("is refused", () => {
  // Every rule of URLs: domain/receiver-url.test.ts; of names: request-fields.test.ts of service-runtime; of ids: type-id.test.ts.
  it.each<[string, object, string, string]>([
    ["without TLS", { url: "http://hooks.brand.example/" }, "not_https", "url"],
    ["a private address", { url: "https://[::ffff:10.0.0.1]/" }, "private_address", "url"],
    ["a chat's webhook", { url: "https://discord.com/api/webhooks/1/x" }, "chat_webhook", "url"],
    ["another port", { url: "https://hooks.brand.example:8444/" }, "invalid_request", "url"],
    ["no URL", { url: "" }, "invalid_request", "url"],
    ["a label of 81 characters", { label: "😀".repeat(81) }, "invalid_request", "label"],
    ["a label with a line break", { label: "a\nb" }, "invalid_request", "label"],
    ["no event type", { events: [] }, "invalid_request", "events"],
    ["an unknown type among known ones", { events: ["payout.paid", "ping"] }, "invalid_request", "events.1"],
    ["a property of every object", { events: ["toString"] }, "invalid_request", "events.0"],
    ["a type twice", { events: ["payout.paid", "payout.paid"] }, "invalid_request", "events"],
    ["what is no brand", { brand_id: "brd_A" }, "invalid_request", "brand_id"],
  ])("%s", async (_, more, kind, field) => {
    const brand = newBrand();
    await expect(create(brand, more)).rejects.toMatchObject({ kind, field, message: expect.stringMatching(`^${field} `) });
    expect(await list(brand)).toEqual([]);
  });

  it.each([{ label: "😀".repeat(80) }, { label: "名前" }, { events: ["campaign.settled"] }, { events: [...EVENT_TYPE_NAMES] }])(
    "unless valid: accepts %j",
    async (more) => expect(await served.create(newBrand(), more)).toMatchObject(more),
  );

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
      served.receivers.updateReceiver({ brand_id: brand, receiver_id: more.id, url, events: [] }),
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
  it("has at most 20 receivers: with 15, exactly 5 of 12 concurrent calls succeed", async () => {
    const brand = newBrand();
    for (let i = 0; i < 15; i += 1) await served.create(brand);
    const outcomes = await Promise.allSettled(Array.from({ length: 12 }, () => create(brand)));
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

  it("at its limit may add a receiver after deleting one", async () => {
    const full = newBrand();
    const first = await served.create(full);
    for (let i = 1; i < 20; i += 1) await served.create(full);
    await expect(create(full)).rejects.toMatchObject({ kind: "receiver_limit", message: expect.stringContaining("Delete one") });
    await served.receivers.deleteReceiver(keyOf(first));
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
    const brands = { isKnown: () => Promise.reject(new AppError("unavailable", "accounts is unavailable")) };
    const brandId = newBrand();
    const input = { brandId, url: "https://hooks.brand.example/", label: "x", events: ["payout.paid"] };
    await expect(createReceiver({ ...served.deps, brands }, input, recordNothing)).rejects.toMatchObject({ kind: "unavailable" });
    expect(await list(brandId)).toEqual([]);
  });
});

it("shows a member who is no owner the origin of a URL, which may hold a token, and owners and the operator all of it", async () => {
  const url = "https://hooks.brand.example:8443/a?token=x";
  const receiver = present((await create(newBrand(), { url })).receiver);
  const handlers = receiversHandlers(served.deps);
  const shownTo = async (role?: "owner" | "member") => {
    const brand = role && { id: receiver.brand_id, role };
    const person = brand && { email: "ana@ulap.example", via: null, limitedTo: null, brand, client: { address: null, browser: null } };
    const call = { ...callContext(), ...(person && { person }) };
    const [one, all] = await Promise.all([handlers.getReceiver(keyOf(receiver), call), handlers.listReceivers(receiver, call)]);
    return [one.receiver, ...all.receivers].map((each) => each?.url);
  };
  expect(await shownTo("member")).toEqual(["https://hooks.brand.example:8443", "https://hooks.brand.example:8443"]);
  expect(await shownTo("owner")).toEqual([url, url]);
  expect(await shownTo()).toEqual([url, url]);
});
