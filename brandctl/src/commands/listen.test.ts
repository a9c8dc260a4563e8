import { createHmac } from "node:crypto";
import { createServer, type AddressInfo } from "node:net";
import { AppError } from "@brand-records/errors";
import type { Receiver } from "@brand-records/proto/webhook/v1";
import { EVENT_TYPE_NAMES } from "@brand-records/resources";
import { eventually } from "@brand-records/testkit";
import { BODY_BYTES_MAX, startLocalReceiver } from "../listen/local-receiver.ts";
import { runBrandctl } from "../run.ts";
import { context, startProduct } from "../../test/product.ts";
import { failing, brandctl, Recorder } from "../../test/test-terminal.ts";

const SECRET = `whsec_${"x".repeat(43)}=`;
const NEXT_SECRET = `whsec_${"y".repeat(43)}=`;

describe("brandctl listen", () => {
  const product = startProduct({ RECEIVERS_ON_LOOPBACK: "true" });
  let brandId: string;
  beforeEach(async () => {
    brandId = (await product.createBrand()).id;
  });
  const receiversOf = async (brand_id = brandId): Promise<Receiver[]> =>
    (await product.receivers.listReceivers({ brand_id }, context())).receivers;
  const addReceiver = async (url: string, label: string, brand_id = brandId): Promise<string> =>
    (await product.receivers.createReceiver({ brand_id, url, label, events: ["payout.paid"] }, context())).receiver?.id ?? "";

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
      env: product.env,
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
    // A GET is no delivery: however often it takes until the command listens, no line is written.
    await eventually(() => fetch(here.url));
    await post(here.url);
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

  it("--create registers a receiver, verifies with its secret what the service delivers, and deletes it at the end", async () => {
    const here = await listening(`--create --brand ${brandId} --events payout.paid`);
    const [receiver] = await receiversOf();
    const id = receiver?.id ?? "";
    expect(receiver).toMatchObject({ url: here.url, events: ["payout.paid"], label: "brandctl listen" });
    expect(here.stderr.text).toContain(`brandctl receivers test ${id}\n`);
    expect(here.stderr.text + here.stdout.text).not.toContain("whsec_");
    await product.run(`receivers test ${id}`);
    await eventually(() => expect(here.stdout.text).toContain("payout.paid  attempt 1  signature matches, Standard Webhooks matches"));
    expect(await post(here.url, "other")).toBe(401);
    expect(await here.end()).toBe(0);
    expect(await receiversOf()).toEqual([]);
    expect(here.stderr.text).toContain(`${id} is deleted.`);
  });

  it("--create selects all event types by default, and accepts that the receiver is deleted meanwhile", async () => {
    const here = await listening(`--create --brand ${brandId}`);
    const [receiver] = await receiversOf();
    expect(receiver?.events).toEqual(EVENT_TYPE_NAMES);
    await product.receivers.deleteReceiver({ brand_id: brandId, receiver_id: receiver?.id ?? "" }, context());
    expect(await here.end()).toBe(0);
  });

  it("--create names the setting that makes the service deliver to this machine", async () => {
    product.failNext("webhook.createReceiver", new AppError("not_https", "url must begin with https://", { field: "url" }));
    expect(await product.run(`listen --port 0 --create --brand ${brandId}`)).toMatchObject(failing(1, "RECEIVERS_ON_LOOPBACK=true"));
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
      const other = (await product.createBrand()).id;
      await addReceiver(url, "brandctl listen", other);
      const left = await addReceiver(url, "brandctl listen");
      const here = await listening(`--port ${port} --create --brand ${brandId}`);
      expect(here.stderr.text).toContain(`${left}, left by an earlier brandctl listen, is deleted.\n`);
      const [made, ...others] = await receiversOf();
      expect([made?.url, others]).toEqual([url, []]);
      expect(made?.id).not.toBe(left);
      expect(await here.end()).toBe(0);
      expect([await receiversOf(), await receiversOf(other)]).toEqual([[], [expect.objectContaining({ url })]]);
    });

    it("leaves a receiver with another label, names it, and gives a hint", async () => {
      const { url, port } = await freeUrl();
      const own = await addReceiver(url, "Books");
      await product.db.query("update webhook.receivers set label = $2 where id = $1", [own, "Books\u001b[2J"]);
      const line = `listen --port ${port} --create --brand ${brandId}`;
      const { code, stderr } = await product.run(line);
      expect(code).toBe(1);
      expect(stderr).toContain(`The receiver ${own}, "Books\ufffd[2J", has the URL ${url} already.`);
      expect(stderr).toContain(`brandctl receivers delete ${own}; or listen elsewhere: --port 0`);
      expect(await receiversOf()).toMatchObject([{ id: own }]);
      expect(JSON.parse((await product.run(`${line} --json`)).stderr)).toMatchObject({ error: { code: "duplicate_url" } });
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
      const here = await listening(`--create --brand ${brandId}`);
      for (let sent = 0; sent < 2; sent += 1) expect(await post(here.url, NEXT_SECRET)).toBe(401);
      expect(here.stderr.text).toContain(`${HINT}. Press Ctrl-C and repeat the command: it makes a receiver with a new secret.\n`);
      expect(await here.end()).toBe(0);
    });
  });

  it("says that a port is taken", async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
    const { port } = taken.address() as AddressInfo;
    expect(await brandctl(["listen", "--port", String(port)])).toMatchObject(failing(1, "--port 0"));
    const line = ["listen", "--create", "--brand", "brd_1", "--events", "foo", "--port", String(port)];
    // Options of listen come first, before the port.
    expect(await brandctl(line)).toMatchObject(failing(2, '--events: "foo" is not an event type'));
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
