import { eventually } from "./eventually.ts";

describe("eventually", () => {
  it("returns the result of the first check that does not throw", async () => {
    let tries = 0;
    const check = async (): Promise<string> => {
      tries += 1;
      if (tries < 3) throw new Error("not yet");
      return "done";
    };
    expect(await eventually(check, { everyMs: 1 })).toBe("done");
    expect(tries).toBe(3);
  });

  it("throws the last error at the deadline", async () => {
    let tries = 0;
    const check = (): never => {
      tries += 1;
      throw new Error(`try ${tries}`);
    };
    await expect(eventually(check, { timeoutMs: 10, everyMs: 1 })).rejects.toThrow(/^try \d+$/);
    expect(tries).toBeGreaterThan(1);
  });

  it("checks at least once", async () => {
    expect(await eventually(() => "immediately", { timeoutMs: 0 })).toBe("immediately");
  });
});
