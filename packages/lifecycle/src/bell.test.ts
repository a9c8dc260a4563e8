import { Bell } from "./bell.ts";

const FOR_EVER_MS = 2_000_000_000;

it("ends a sleep when it rings", async () => {
  const bell = new Bell();
  const sleeping = bell.sleep(FOR_EVER_MS);
  bell.ring();
  await sleeping;
});

it("lets nobody fall asleep who was rung for since the last look, until it is silenced", async () => {
  const bell = new Bell();
  bell.silence();
  bell.ring();
  await bell.sleep(FOR_EVER_MS);
  await bell.sleep(FOR_EVER_MS);
  bell.silence();
  let awake = false;
  const sleeping = bell.sleep(FOR_EVER_MS).then(() => void (awake = true));
  await new Promise((resolve) => setImmediate(resolve));
  expect(awake).toBe(false);
  bell.ring();
  await sleeping;
});

it("ends a sleep by itself", async () => {
  await new Bell().sleep(1);
});
