import { callAtPace } from "../webhooks/paced.ts";
import type { WebhookProduct } from "../webhooks/product.ts";
import type { Receivers } from "../webhooks/receivers.ts";
import { RATE_PER_SECOND, RECEIVERS } from "../webhooks/settings.ts";

export interface MemoryAfterLoad {
  readonly minutes: number;
  /** Resident MiB before the load, after its first tenth, and at its end. */
  readonly start: Readonly<Record<"webhook" | "records", number>>;
  readonly after_a_tenth: Readonly<Record<"webhook" | "records", number>>;
  readonly end: Readonly<Record<"webhook" | "records", number>>;
  readonly peak: Readonly<Record<"webhook" | "records", number>>;
}

/** Measures memory over minutes of steady load: what still grows between the first tenth and the end is kept, not warming up. */
export async function measureMemory(product: WebhookProduct, receivers: Receivers, minutes: number): Promise<MemoryAfterLoad> {
  await receivers.begin();
  const read = async (which: "now" | "peak") => {
    const { webhook, records } = await product.memory();
    return { webhook: webhook[which], records: records[which] };
  };
  const load = (seconds: number) =>
    callAtPace({ perSecond: RATE_PER_SECOND, seconds }, (number) => product.outbox.change(number % RECEIVERS));
  const start = await read("now");
  await load(minutes * 6);
  const after_a_tenth = await read("now");
  await load(minutes * 54);
  const [end, peak] = [await read("now"), await read("peak")];
  await product.untilIdle();
  return { minutes, start, after_a_tenth, end, peak };
}
