import { call } from "./call.ts";

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

it("rejects with the reason of its signal, also while the body arrives", async () => {
  const given = new AbortController();
  respondWith(() => {
    given.abort(new Error("gone elsewhere"));
    return new Response("{");
  });
  await expect(createKey(given.signal)).rejects.toThrow("gone elsewhere");
});
