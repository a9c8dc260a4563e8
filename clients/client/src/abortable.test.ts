import { pause, withTimeout } from "./abortable.ts";

/** Timers take 2^31 - 1 milliseconds, and end at once with more. */
describe.each([2 ** 31, Infinity])("%d ms", (milliseconds) => {
  it("are not over at once", async () => {
    const controller = new AbortController();
    const [long, short] = [pause(milliseconds, controller.signal).then(() => "long"), pause(20, undefined).then(() => "short")];
    expect(await Promise.race([long, short])).toBe("short");
    controller.abort(new Error("enough"));
    await expect(long).rejects.toThrow("enough");
  });

  it("leave work its time", async () => {
    const work = async (): Promise<string> => {
      await pause(20, undefined);
      return "done";
    };
    expect(await withTimeout(milliseconds, undefined, work)).toBe("done");
  });
});
