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

it("frees the slot of the request that is undone, and no other", () => {
  expect(windows.spend(brandId, 2, 100).kind).toBe("admitted");
  expect(windows.spend(brandId, 2, 200).kind).toBe("admitted");
  windows.takeBack(brandId, 200);
  windows.takeBack(brandId, 200);
  expect(windows.spend(brandId, 2, 300)).toMatchObject({ kind: "admitted", remaining: 0 });
  expect(windows.spend(brandId, 2, 100 + MINUTE_MICROS - 1).kind).toBe("refused");
  expect(windows.spend(brandId, 2, 100 + MINUTE_MICROS).kind).toBe("admitted");
});

it("puts a request accepted elsewhere in its place by time, and keeps no more requests than the limit", () => {
  windows.spend(brandId, 2, 100);
  windows.spend(brandId, 2, 300);
  windows.note(brandId, 2, 200);
  // The requests at 200 and 300 remain.
  expect(windows.spend(brandId, 2, 100 + MINUTE_MICROS).kind).toBe("refused");
  expect(windows.spend(brandId, 2, 200 + MINUTE_MICROS).kind).toBe("admitted");
  expect(windows.spend(brandId, 2, 200 + MINUTE_MICROS).kind).toBe("refused");
});

it("frees the memory of idle brands automatically", () => {
  jest.useFakeTimers();
  const idleWindows = new SlidingWindows();
  try {
    idleWindows.spend("brd_idle", 60, idleWindows.now());
    jest.advanceTimersByTime(45_000);
    idleWindows.spend("brd_busy", 60, idleWindows.now());
    jest.advanceTimersByTime(45_000);
    expect(idleWindows.size).toBe(1);
    jest.advanceTimersByTime(45_000);
    expect(idleWindows.size).toBe(0);
    expect(jest.getTimerCount()).toBe(1);
    idleWindows.stop();
    expect(jest.getTimerCount()).toBe(0);
  } finally {
    jest.useRealTimers();
  }
});
