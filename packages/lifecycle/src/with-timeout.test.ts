import { TIMED_OUT, withStopTimeout, withTimeout } from "./with-timeout.ts";

const forever = () => new Promise<void>(() => {});

describe("withTimeout", () => {
  it("settles as the work does if it settles in time", async () => {
    expect(await withTimeout(Promise.resolve("done"), 10_000)).toBe("done");
    await expect(withTimeout(Promise.reject(new Error("failed")), 10_000)).rejects.toThrow("failed");
  });

  it("resolves to TIMED_OUT after the timeout, and ignores a rejection after that", async () => {
    const late = Promise.withResolvers<void>();
    expect(await withTimeout(late.promise, 1)).toBe(TIMED_OUT);
    late.reject(new Error("too late"));
    await expect(late.promise).rejects.toThrow("too late");
  });

  it("resolves to TIMED_OUT if the timeout is already over", async () => {
    expect(await withTimeout(forever(), -1)).toBe(TIMED_OUT);
  });
});

describe("withStopTimeout", () => {
  it("stops the resource, and waits no longer than the timeout", async () => {
    let stopped = 0;
    await withStopTimeout({ stop: async () => void (stopped += 1) }, 10_000).stop();
    expect(stopped).toBe(1);
    await withStopTimeout({ stop: forever }, 1).stop();
  });

  it("rejects with what kept the resource from stopping", async () => {
    await expect(withStopTimeout({ stop: () => Promise.reject(new Error("stuck")) }, 10_000).stop()).rejects.toThrow("stuck");
  });
});
