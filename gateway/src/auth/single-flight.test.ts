import { setImmediate as turn } from "node:timers/promises";
import { SingleFlight } from "./single-flight.ts";

/** Work that ends when told to. */
function heldWork() {
  const starts: { finish(value: string): void; fail(error: Error): void }[] = [];
  const work = () => new Promise<string>((finish, fail) => starts.push({ finish, fail }));
  return { starts, work };
}

describe("fresh flights", () => {
  it("never give an answer whose work began before the question", async () => {
    const flights = new SingleFlight<string>();
    const { starts, work } = heldWork();
    const early = flights.run("key", work);
    const late = flights.run("key", work);
    expect(starts).toHaveLength(1);
    starts[0]?.finish("as it was");
    await expect(early).resolves.toBe("as it was");
    await turn();
    expect(starts).toHaveLength(2);
    starts[1]?.finish("as it is");
    await expect(late).resolves.toBe("as it is");
  });

  it("join those who wait into one flight", async () => {
    const flights = new SingleFlight<string>();
    const { starts, work } = heldWork();
    void flights.run("key", work);
    const waiting = Array.from({ length: 100 }, () => flights.run("key", work));
    starts[0]?.finish("first");
    await turn();
    starts[1]?.finish("second");
    await expect(Promise.all(waiting)).resolves.toEqual(Array.from({ length: 100 }, () => "second"));
    expect(starts).toHaveLength(2);
  });

  it("go on after a failure, which reaches its own callers only", async () => {
    const flights = new SingleFlight<string>();
    const { starts, work } = heldWork();
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
