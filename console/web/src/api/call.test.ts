import { call, isUncertain } from "./call.ts";

/** One promise: a call succeeds only with the whole response of the service. */

const respondWith = (response: () => Response | Promise<Response>) =>
  jest.spyOn(globalThis, "fetch").mockImplementation(async () => response());
afterEach(() => jest.restoreAllMocks());

const createKey = (signal?: AbortSignal) =>
  call("keys.create", { brand_id: "brd_1", name: "Looker", may_prepare: false }, { ...(signal && { signal }) });

it("returns what the service sent", async () => {
  respondWith(() => Response.json({ secret: "brk_live_1" }));
  expect(await createKey()).toEqual({ secret: "brk_live_1" });
});

it("names the person who acts in the body", async () => {
  const fetched = respondWith(() => Response.json({ keys: [] }));
  await call("keys.list", { brand_id: "brd_1" }, { as: "ñandú@example.ph" });
  await call("keys.list", { brand_id: "brd_1" });
  expect(fetched.mock.calls.map(([, request]) => JSON.parse(request?.body as string) as unknown)).toEqual([
    { brand_id: "brd_1", person: "ñandú@example.ph" },
    { brand_id: "brd_1" },
  ]);
});

it.each(["", '{"secret":"brk_live_', "<html>"])("does not take a success with the body %j for one", async (body) => {
  respondWith(() => new Response(body, { headers: { "x-request-id": "req_1" } }));
  await expect(createKey()).rejects.toMatchObject({ name: "CallError", code: "unreachable", requestId: "req_1" });
});

it("does not take a response that was cut off for a success", async () => {
  const cut = new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode('{"secret":'));
      controller.error(new TypeError("network error"));
    },
  });
  respondWith(() => new Response(cut));
  await expect(createKey()).rejects.toMatchObject({ code: "unreachable" });
});

it("gives up a connection that has gone silent", async () => {
  const timeout = jest.spyOn(AbortSignal, "timeout").mockImplementation(() => AbortSignal.abort(new DOMException("", "TimeoutError")));
  jest.spyOn(globalThis, "fetch").mockImplementation((_url, request) => Promise.reject(request?.signal?.reason as Error));
  await expect(createKey()).rejects.toMatchObject({ code: "unreachable" });
  expect(timeout).toHaveBeenCalledWith(70_000);
});

describe("while processes of two releases serve", () => {
  const refuse = (status: number, error: object) =>
    respondWith(() => Response.json({ error: { request_id: "req_1", ...error } }, { status }));

  it.each<[string, number, object]>([
    ["an operation", 404, { code: "not_found", message: "The console has no such operation. Reload the page." }],
    ["a field", 400, { code: "invalid_request", message: "Unrecognized key", details: [{ field: "", message: "Unrecognized key" }] }],
    ["a method of a service", 503, { code: "unavailable", message: "The console has no such operation. Reload the page." }],
  ])("says so of %s that an earlier one does not have, which has done nothing", async (_, status, error) => {
    refuse(status, error);
    const failure: unknown = await createKey().catch((reason: unknown) => reason);
    expect(failure).toMatchObject({
      code: "updating",
      requestId: "req_1",
      message: expect.stringContaining("Try again") as string,
      details: [],
    });
    expect(isUncertain(failure as Error)).toBe(false);
  });

  it.each<[number, object]>([
    [404, { code: "not_found", message: "None of your brands has this record." }],
    [400, { code: "invalid_request", message: "No.", details: [{ field: "name", message: "must not be empty" }] }],
    [400, { code: "invalid_request", message: "No." }],
  ])("leaves any other refusal as it is: %#", async (status, error) => {
    refuse(status, error);
    await expect(createKey()).rejects.toMatchObject({ code: (error as { code: string }).code });
  });
});

it("rejects with the reason of its signal, also while the body arrives", async () => {
  const given = new AbortController();
  respondWith(() => {
    given.abort(new Error("gone elsewhere"));
    return new Response("{");
  });
  await expect(createKey(given.signal)).rejects.toThrow("gone elsewhere");
});
