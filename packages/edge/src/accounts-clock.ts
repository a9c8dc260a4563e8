import { SharedClock } from "@brand-records/lifecycle";
import { newCallContext, type CallContext } from "@brand-records/rpc";

const CALL_MS = 2_000;

interface TellsTime {
  getTime(request: object, context: CallContext): Promise<{ readonly now_ms: number }>;
}

/** The database's time for a process that has no database: accounts tells it. */
export const accountsClock = (usage: TellsTime): SharedClock =>
  new SharedClock(async () => (await usage.getTime({}, newCallContext(CALL_MS))).now_ms);
