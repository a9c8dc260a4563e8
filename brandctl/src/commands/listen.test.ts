import { createServer, type AddressInfo } from "node:net";
import { createServer as createHttpServer } from "node:http";
import { colorsFor, listenOn } from "@brand-records/command-line";
import { AppError } from "@brand-records/errors";
import type { Receiver } from "@brand-records/proto/webhook/v1";
import { EVENT_TYPE_NAMES } from "@brand-records/resources";
import { eventually } from "@brand-records/testkit";
import { arrivalText } from "../listen/arrival.ts";
import { runBrandctl } from "../run.ts";
import { context, startProduct } from "../../test/product.ts";
import { failing, brandctl, Recorder } from "../../test/test-terminal.ts";

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

  /** A port that was free just now. */
  async function freeUrl(): Promise<{ url: string; port: string }> {
    const { url, stop } = await listenOn(createHttpServer(), 0);
    await stop();
    return { url, port: new URL(url).port };
  }

  it("registers a receiver, shows what the service delivers, refuses anything else, and deletes the receiver at the end", async () => {
    const here = await listening(`--brand ${brandId} --events payout.paid`);
    const [receiver] = await receiversOf();
    const id = receiver?.id ?? "";
    expect(receiver).toMatchObject({ url: here.url, events: ["payout.paid"], label: "brandctl listen" });
    expect(here.stderr.text).toContain(`brandctl receivers test ${id}\n`);
    await product.run(`receivers test ${id}`);
    await eventually(() =>
      expect(here.stdout.text).toMatch(/payout\.paid {2}verified\n {2}evt_\w+ {2}brd_\w+ {2}test\n {2}{\n {4}"resource": /),
    );
    expect((await fetch(here.url, { method: "POST", body: "{}" })).status).toBe(401);
    expect((await fetch(here.url)).status).toBe(405);
    await eventually(() =>
      expect(here.stdout.text).toMatch(/refused \(401\) {2}not verified: .*\n.*refused \(405\) {2}deliveries are POST/),
    );
    expect(here.stderr.text + here.stdout.text).not.toContain("whsec_");
    expect(await here.end()).toBe(0);
    expect(await receiversOf()).toEqual([]);
    expect(here.stderr.text).toContain(`${id} is deleted.`);
    await expect(fetch(here.url)).rejects.toThrow("fetch failed");
  });

  it("writes a line of JSON for each request with --json", async () => {
    const { url, port } = await freeUrl();
    const interrupting = new AbortController();
    const stdout = new Recorder(false);
    const line = ["listen", "--json", "--port", port, "--brand", brandId];
    const running = brandctl(line, { interrupted: interrupting.signal, env: product.env, stdout });
    const id = await eventually(async () => {
      const [receiver] = await receiversOf();
      if (receiver === undefined) throw new Error("no receiver is registered");
      return receiver.id;
    });
    await product.run(`receivers test ${id}`);
    await eventually(() => expect(stdout.text).toContain("\n"));
    await fetch(url, { method: "POST", body: "{}" });
    await eventually(() => expect(stdout.text.split("\n")).toHaveLength(3));
    interrupting.abort();
    expect(await running).toMatchObject({ code: 0, stderr: "" });
    const lines = stdout.text.trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
      { verified: true, status: 204, reason: null, event: { brand_id: brandId, test: true } },
      { verified: false, status: 401, reason: expect.stringContaining("not verified"), event: null },
    ]);
  });

  it("lets no record's text move the cursor of a terminal", () => {
    const event = {
      id: "evt_1",
      type: "payout.paid",
      brand_id: "brd_1",
      created_at: "2026-11-21T08:30:00Z",
      test: false,
      dashboard_url: "https://records.example",
      data: { id: "po_1", note: "\u202e\u009b2J" },
    };
    const arrival = { received_at: "2026-11-21T08:30:01.000Z", verified: true, status: 204, reason: null, event };
    expect(arrivalText(arrival, colorsFor(new Recorder(false), {}))).toContain('"note": "\ufffd\ufffd2J"');
  });

  it("selects all event types by default, and accepts that the receiver is deleted meanwhile", async () => {
    const here = await listening(`--brand ${brandId}`);
    const [receiver] = await receiversOf();
    expect(receiver?.events).toEqual(EVENT_TYPE_NAMES);
    await product.receivers.deleteReceiver({ brand_id: brandId, receiver_id: receiver?.id ?? "" }, context());
    expect(await here.end()).toBe(0);
  });

  it("names the setting that makes the service deliver to this machine", async () => {
    product.failNext("webhook.createReceiver", new AppError("not_https", "url must begin with https://", { field: "url" }));
    expect(await product.run(`listen --port 0 --brand ${brandId}`)).toMatchObject(failing(1, "RECEIVERS_ON_LOOPBACK=true"));
  });

  describe("where the URL has a receiver already", () => {
    it("deletes what an earlier run left, says so, and registers again", async () => {
      const { url, port } = await freeUrl();
      const other = (await product.createBrand()).id;
      await addReceiver(url, "brandctl listen", other);
      const left = await addReceiver(url, "brandctl listen");
      const here = await listening(`--port ${port} --brand ${brandId}`);
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
      const line = `listen --port ${port} --brand ${brandId}`;
      const { code, stderr } = await product.run(line);
      expect(code).toBe(1);
      expect(stderr).toContain(`The receiver ${own}, "Books\ufffd[2J", has the URL ${url} already.`);
      expect(stderr).toContain(`brandctl receivers delete ${own}; or listen elsewhere: --port 0`);
      expect(await receiversOf()).toMatchObject([{ id: own }]);
      expect(JSON.parse((await product.run(`${line} --json`)).stderr)).toMatchObject({ error: { code: "duplicate_url" } });
    });
  });

  it("says that a port is taken", async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
    const { port } = taken.address() as AddressInfo;
    expect(await brandctl(["listen", "--brand", "brd_1", "--port", String(port)])).toMatchObject(failing(1, "--port 0"));
    const line = ["listen", "--brand", "brd_1", "--events", "foo", "--port", String(port)];
    // Options of listen come first, before the port.
    expect(await brandctl(line)).toMatchObject(failing(2, '--events: "foo" is not an event type'));
    taken.close();
  });

  it.each([
    ["", "The brand is missing: name it with --brand, or set BRAND."],
    ["--brand brd_1 --port 65536", "port number"],
  ])("refuses %s", async (line, message) => {
    expect(await brandctl(`listen ${line}`.trim().split(" "))).toMatchObject(failing(2, message));
  });
});
