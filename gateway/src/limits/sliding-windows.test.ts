import { SlidingWindows } from "./sliding-windows.ts";

const MINUTE_MICROS = 60_000_000;
const windows = new SlidingWindows();
let brandId: string;
let brands = 0;

beforeEach(() => {
  brands += 1;
  brandId = `brd_${brands}`;
});
afterAll(() => windows.stop());

it("gives a slot back that was taken, and only that one", () => {
  expect(windows.spend(brandId, 2, 100).kind).toBe("admitted");
  expect(windows.spend(brandId, 2, 200).kind).toBe("admitted");
  windows.takeBack(brandId, 200);
  windows.takeBack(brandId, 200);
  expect(windows.spend(brandId, 2, 300)).toMatchObject({ kind: "admitted", remaining: 0 });
  expect(windows.spend(brandId, 2, 100 + MINUTE_MICROS - 1).kind).toBe("refused");
  expect(windows.spend(brandId, 2, 100 + MINUTE_MICROS).kind).toBe("admitted");
});

it("puts a request that was accepted elsewhere in its place in time, and keeps no more of them than the limit", () => {
  windows.spend(brandId, 2, 100);
  windows.spend(brandId, 2, 300);
  windows.note(brandId, 2, 200);
  // Left are 200 and 300.
  expect(windows.spend(brandId, 2, 100 + MINUTE_MICROS).kind).toBe("refused");
  expect(windows.spend(brandId, 2, 200 + MINUTE_MICROS).kind).toBe("admitted");
  expect(windows.spend(brandId, 2, 200 + MINUTE_MICROS).kind).toBe("refused");
});

it("gives up the memory of idle brands by itself", () => {
  jest.useFakeTimers();
  const sleeping = new SlidingWindows();
  try {
    sleeping.spend("brd_idle", 60, sleeping.now());
    jest.advanceTimersByTime(45_000);
    sleeping.spend("brd_busy", 60, sleeping.now());
    jest.advanceTimersByTime(45_000);
    expect(sleeping.size).toBe(1);
    jest.advanceTimersByTime(45_000);
    expect(sleeping.size).toBe(0);
    expect(jest.getTimerCount()).toBe(1);
    sleeping.stop();
    expect(jest.getTimerCount()).toBe(0);
  } finally {
    jest.useRealTimers();
  }
});
