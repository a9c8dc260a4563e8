import { createHmac } from "node:crypto";
import { createServer, type AddressInfo } from "node:net";
import { EVENT_TYPE_NAMES } from "@brand-records/resources";
import { eventually } from "@brand-records/testkit";
import { BODY_BYTES_MAX, startLocalReceiver } from "../listen/local-receiver.ts";
import { runBrandctl } from "../run.ts";
import { FakeAudit } from "../../test/fake-audit.ts";
import { FakeWebhook, NEXT_SECRET, receiverOf, SECRET } from "../../test/fake-webhook.ts";
import { serve, type Served } from "../../test/serve.ts";
import { brandctl, Recorder } from "../../test/test-terminal.ts";

describe("brandctl listen", () => {
  let fake: FakeWebhook;
  let served: Served;
  beforeAll(async () => {
    fake = new FakeWebhook();
    fake.loopback = true;
    served = await serve(...fake.served, ...new FakeAudit().served);
  });
  afterAll(() => served.stop());
  beforeEach(() => {
    fake.receivers.splice(0);
    fake.loopback = true;
  });

  interface Listening {
    readonly url: string;
    readonly stdout: Recorder;
    readonly stderr: Recorder;
    /** Ctrl-C; returns the exit code. */
    end(): Promise<number>;
  }

  /** Runs the command until it says where it listens. */
  async function listening(line: string): Promise<Listening> {
    const [stdout, stderr] = [new Recorder(false), new Recorder(false)];
    const interrupting = new AbortController();
    const { signal } = interrupting;
    const terminal = {
      stdin: process.stdin,
      stdout,
      stderr,
      env: { WEBHOOK_ADDRESS: served.address, ACCOUNTS_ADDRESS: served.address },
      cwd: "/",
      interrupted: signal,
    };
    const running = runBrandctl(`listen --port 0 ${line}`.trim().split(" "), terminal);
    const url = await eventually(() => {
      const [, listened] = /Listening on (\S+) /.exec(stderr.text) ?? [];
      if (listened === undefined) throw new Error(`it does not listen: ${stderr.text}`);
      return listened;
    });
    return {
      url,
      stdout,
      stderr,
      end: () => {
        interrupting.abort();
        return running;
      },
    };
  }

  const EVENT = '{"id":"evt_1","type":"payout.paid","brand_id":"brd_1","test":true,"data":{"id":"po_1","note":"\u202e\\u001b[2J"}}';

  async function post(url: string, secret = SECRET, body = EVENT): Promise<number> {
    const timestamp = String(Math.floor(Date.now() / 1_000));
    const headers = {
      "x-service-event": "payout.paid",
      "x-service-attempt": "2",
      "x-service-timestamp": timestamp,
      "x-service-signature": `sha256=${createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("hex")}`,
    };
    return (await fetch(url, { method: "POST", headers, body })).status;
  }

  it("verifies, shows what arrives, and responds with 204, or 401 if the signature does not match", async () => {
    const here = await listening(`--secret ${SECRET}`);
    expect(await post(here.url)).toBe(204);
    expect(here.stdout.text).toContain("payout.paid  attempt 2  signature matches, Standard Webhooks does not match");
    expect(here.stdout.text).toContain("  evt_1  brd_1  test\n");
    expect(here.stdout.text).toContain('"id": "po_1"');
    for (const harm of ["\u001b", "\u202e"]) expect(here.stdout.text).not.toContain(harm);
    expect(await post(here.url, `whsec_${"z".repeat(43)}=`)).toBe(401);
    expect(here.stdout.text).toContain("refused: its signature does not match");
    expect(here.stderr.text).not.toContain("Nothing is verified");
    expect(await here.end()).toBe(0);
    await expect(fetch(here.url)).rejects.toThrow("fetch failed");
  });

  it("without a secret says that it does not verify, and how to register it", async () => {
    const here = await listening("");
    expect(here.stderr.text).toContain("Nothing is verified");
    expect(here.stderr.text).toContain(`brandctl receivers create --brand BRAND --url ${here.url} `);
    expect(await post(here.url, "whatever")).toBe(204);
    expect(here.stdout.text).toContain("not verified");
    expect(await post(here.url, "whatever", "not JSON\u001b[2J")).toBe(204);
    expect(here.stdout.text).toContain("not JSON\ufffd[2J");
    expect(await here.end()).toBe(0);
  });

  it("refuses other methods than POST, and bodies that are too large, with or without Content-Length", async () => {
    const here = await listening("");
    expect((await fetch(here.url)).status).toBe(405);
    expect(await post(here.url, SECRET, "x".repeat(BODY_BYTES_MAX))).toBe(204);
    const before = here.stdout.text;
    expect(await post(here.url, SECRET, "x".repeat(BODY_BYTES_MAX + 1))).toBe(413);
    const chunks = new ReadableStream({
      start(controller) {
        for (let sent = 0; sent <= BODY_BYTES_MAX; sent += 65_536) controller.enqueue(new Uint8Array(65_536));
        controller.close();
      },
    });
    const status = await fetch(here.url, { method: "POST", body: chunks, duplex: "half" }).then(
      (response) => response.status,
      () => 413,
    );
    expect(status).toBe(413);
    expect(here.stdout.text).toBe(before);
    await here.end();
  });

  it("writes a line of JSON for each delivery with --json", async () => {
    const here = await startLocalReceiver(0, () => 204);
    const port = new URL(here.url).port;
    await here.stop();
    const interrupting = new AbortController();
    const running = brandctl(["listen", "--json", "--port", port, "--secret", SECRET], { interrupted: interrupting.signal });
    await eventually(() => post(here.url));
    await post(here.url, "other");
    interrupting.abort();
    const { code, stdout, stderr } = await running;
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(
      stdout
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as object),
    ).toMatchObject([
      { status: 204, signature: "fits", reason: null, event: "payout.paid", attempt: "2", body: { id: "evt_1" } },
      { status: 401, signature: "refused", reason: "its signature does not match" },
    ]);
  });

  it("--create registers a receiver, verifies with its secret, and deletes it at the end", async () => {
    const here = await listening("--create --brand brd_1 --events payout.paid");
    expect(fake.receivers).toMatchObject([{ brand_id: "brd_1", url: here.url, events: ["payout.paid"], label: "brandctl listen" }]);
    expect(here.stderr.text).toContain("brandctl receivers test rcv_made0\n");
    expect(here.stderr.text + here.stdout.text).not.toContain(SECRET);
    expect(await post(here.url)).toBe(204);
    expect(await post(here.url, "other")).toBe(401);
    expect(await here.end()).toBe(0);
    expect(fake.receivers).toEqual([]);
    expect(here.stderr.text).toContain("rcv_made0 is deleted.");
  });

  it("--create selects all event types by default, and accepts that the receiver is deleted meanwhile", async () => {
    const here = await listening("--create --brand brd_1");
    expect(fake.receivers[0]?.events).toEqual(EVENT_TYPE_NAMES);
    fake.receivers.splice(0);
    expect(await here.end()).toBe(0);
  });

  it("--create names the setting that makes the service deliver to this machine", async () => {
    fake.loopback = false;
    expect(
      await brandctl(["listen", "--port", "0", "--create", "--brand", "brd_1"], {
        env: { WEBHOOK_ADDRESS: served.address, ACCOUNTS_ADDRESS: served.address },
      }),
    ).toMatchObject({ code: 1, stderr: expect.stringContaining("RECEIVERS_ON_LOOPBACK=true") });
  });

  describe("--create where the URL has a receiver already", () => {
    /** A port that was free just now. */
    async function freeUrl(): Promise<{ url: string; port: string }> {
      const { url, stop } = await startLocalReceiver(0, () => 204);
      await stop();
      return { url, port: new URL(url).port };
    }

    it("deletes what an earlier run left, says so, and registers again", async () => {
      const { url, port } = await freeUrl();
      fake.receivers.push(
        receiverOf({ id: "rcv_other", brand_id: "brd_2", url, label: "brandctl listen" }),
        receiverOf({ id: "rcv_left", url, label: "brandctl listen", waiting: 2 }),
      );
      const here = await listening(`--port ${port} --create --brand brd_1`);
      expect(here.stderr.text).toContain("rcv_left, left by an earlier brandctl listen, is deleted, and 2 waiting deliveries with it.\n");
      expect(fake.receivers.map(({ id }) => id)).toEqual(["rcv_other", "rcv_made1"]);
      expect(await post(here.url)).toBe(204);
      expect(await here.end()).toBe(0);
      expect(fake.receivers.map(({ id }) => id)).toEqual(["rcv_other"]);
    });

    it("leaves a receiver with another label, names it, and gives a hint", async () => {
      const { url, port } = await freeUrl();
      fake.receivers.push(receiverOf({ id: "rcv_own", url, label: "Books\u001b[2J" }));
      const args = ["listen", "--port", port, "--create", "--brand", "brd_1"];
      const { code, stderr } = await brandctl(args, { env: { WEBHOOK_ADDRESS: served.address, ACCOUNTS_ADDRESS: served.address } });
      expect(code).toBe(1);
      expect(stderr).toContain(`The receiver rcv_own, "Books\ufffd[2J", has the URL ${url} already.`);
      expect(stderr).toContain("brandctl receivers delete rcv_own; or listen elsewhere: --port 0");
      expect(fake.receivers).toMatchObject([{ id: "rcv_own" }]);
      const json = await brandctl([...args, "--json"], { env: { WEBHOOK_ADDRESS: served.address, ACCOUNTS_ADDRESS: served.address } });
      expect(JSON.parse(json.stderr)).toMatchObject({ error: { code: "duplicate_url" } });
    });
  });

  describe("of a receiver whose secret is rotated", () => {
    const HINT = "the signing secret may have been rotated";

    it("accepts what matches any of its secrets", async () => {
      const here = await listening(`--secret ${SECRET} --secret ${NEXT_SECRET}`);
      expect(await post(here.url, SECRET)).toBe(204);
      expect(await post(here.url, NEXT_SECRET)).toBe(204);
      expect(await post(here.url, "other")).toBe(401);
      expect(await here.end()).toBe(0);
    });

    it("notes once, after two mismatches in a row, that the secret may have been rotated, with a hint", async () => {
      const here = await listening(`--secret ${SECRET}`);
      await post(here.url, NEXT_SECRET);
      await post(here.url, SECRET);
      await post(here.url, NEXT_SECRET);
      // A request without a signature is not the receiver's.
      await fetch(here.url, { method: "POST", body: "{}" });
      expect(here.stderr.text).not.toContain(HINT);
      for (let sent = 0; sent < 3; sent += 1) await post(here.url, NEXT_SECRET);
      expect(here.stderr.text.split(HINT)).toHaveLength(2);
      expect(here.stderr.text).toContain("--secret OLD --secret NEW");
      expect(await here.end()).toBe(0);
    });

    it("with --create says that the same command makes a new secret", async () => {
      const here = await listening("--create --brand brd_1");
      for (let sent = 0; sent < 2; sent += 1) expect(await post(here.url, NEXT_SECRET)).toBe(401);
      expect(here.stderr.text).toContain(`${HINT}. Press Ctrl-C and repeat the command: it makes a receiver with a new secret.\n`);
      expect(await here.end()).toBe(0);
    });
  });

  it("says that a port is taken", async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
    const { port } = taken.address() as AddressInfo;
    expect(await brandctl(["listen", "--port", String(port)])).toMatchObject({ code: 1, stderr: expect.stringContaining("--port 0") });
    const line = ["listen", "--create", "--brand", "brd_1", "--events", "foo", "--port", String(port)];
    // Options of listen come first, before the port.
    expect(await brandctl(line)).toMatchObject({ code: 2, stderr: expect.stringContaining('--events: "foo" is not an event type') });
    taken.close();
  });

  it.each([
    ["--create", "The brand is missing: name it with --brand, or set BRAND."],
    [`--create --brand brd_1 --secret ${SECRET}`, "leave out --secret"],
    ["--brand brd_1", "go with --create"],
    ["--secret whsec_x", "44 characters"],
    [`--secret ${SECRET} --secret whsec_x`, "44 characters"],
    ["--port 65536", "port number"],
    ["--header-word a-b", "letters and digits"],
  ])("refuses %s", async (line, message) => {
    const { code, stderr } = await brandctl(["listen", ...line.split(" ")]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) });
    expect(stderr).not.toContain("whsec_x\n");
  });
});
