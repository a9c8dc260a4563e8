import { Repeats } from "./foreign-cores.ts";

/** One promise: what other programs disturbed is measured again, a bounded number of times, and the result says so. */

const measuring = (...cores: number[]) => {
  const left = cores.map((foreign_cores, turn) => ({ foreign_cores, turn }));
  return () => Promise.resolve(left.shift() ?? { foreign_cores: 0, turn: -1 });
};

it("repeats while other programs use more than a tenth of a core, and notes each", async () => {
  const repeats = new Repeats(5, () => {});
  expect(await repeats.undisturbed("calm", measuring(0.4, 0.11, 0.1))).toMatchObject({ turn: 2 });
  expect(repeats.done).toEqual(["calm: other programs used 0.40 cores", "calm: other programs used 0.11 cores"]);
});

it("shares its bound among all measurements, and then keeps what was disturbed", async () => {
  const repeats = new Repeats(1, () => {});
  await repeats.undisturbed("calm", measuring(1, 0));
  expect(await repeats.undisturbed("dump", measuring(1, 0))).toMatchObject({ turn: 0 });
});
