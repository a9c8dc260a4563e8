import { setImmediate as turn } from "node:timers/promises";
import { SingleFlight } from "./single-flight.ts";

/** Work that ends when the test ends it. */
function controlledWork() {
  const starts: { finish(value: string): void; fail(error: Error): void }[] = [];
  const work = () => new Promise<string>((finish, fail) => starts.push({ finish, fail }));
  return { starts, work };
}

describe("single flights", () => {
  it("never return a result of work that began before the call", async () => {
    const flights = new SingleFlight<string>();
    const { starts, work } = controlledWork();
    const early = flights.run("key", work);
    const late = flights.run("key", work);
    expect(starts).toHaveLength(1);
    starts[0]?.finish("old state");
    await expect(early).resolves.toBe("old state");
    await turn();
    expect(starts).toHaveLength(2);
    starts[1]?.finish("new state");
    await expect(late).resolves.toBe("new state");
  });

  it("join waiting callers into one flight", async () => {
    const flights = new SingleFlight<string>();
    const { starts, work } = controlledWork();
    void flights.run("key", work);
    const waiting = Array.from({ length: 100 }, () => flights.run("key", work));
    starts[0]?.finish("first");
    await turn();
    starts[1]?.finish("second");
    await expect(Promise.all(waiting)).resolves.toEqual(Array.from({ length: 100 }, () => "second"));
    expect(starts).toHaveLength(2);
  });

  it("continue after a failure, which reaches only its own callers", async () => {
    const flights = new SingleFlight<string>();
    const { starts, work } = controlledWork();
    const failing = flights.run("key", work);
    const next = flights.run("key", work);
    starts[0]?.fail(new Error("down"));
    await expect(failing).rejects.toThrow("down");
    await turn();
    starts[1]?.finish("up");
    await expect(next).resolves.toBe("up");
    await turn();
    expect(flights.size).toBe(0);
  });

  it("keep keys apart", async () => {
    const flights = new SingleFlight<string>();
    await expect(Promise.all([flights.run("a", async () => "A"), flights.run("b", async () => "B")])).resolves.toEqual(["A", "B"]);
  });
});
