import { eventually } from "@brand-records/testkit";
import { CALLS, type Answer, type Call } from "./callers.ts";

/** A second, together 13: little enough for two cores that run everything. */
const RATES: Readonly<Record<Call, number>> = { page: 4, tool: 2, plan: 1, keys: 1, receivers: 1, change: 4 };
/** Requests of one kind without a response: no more are made then. */
const WAITING_MAX = 100;
/** Good answers in a row of each call that mean that it works. */
const GOOD_IN_A_ROW = 3;
const RECOVERY_MS_MAX = 90_000;

/** A steady load of every call, whether earlier calls have been answered or not. */
export class Load {
  readonly #calls: Readonly<Record<Call, () => Promise<Pick<Answer, "answer" | "retryAfter">>>>;
  readonly #answers: Answer[] = [];
  readonly #waiting = new Set<{ readonly call: Call; readonly startedAt: number }>();
  readonly #paused = new Set<Call>();
  readonly #timers: NodeJS.Timeout[];

  constructor(calls: Readonly<Record<Call, () => Promise<Pick<Answer, "answer" | "retryAfter">>>>) {
    this.#calls = calls;
    this.#timers = CALLS.map((call) => setInterval(() => void this.#make(call), 1_000 / RATES[call]));
  }

  /** Returns the answers to calls that started at this time or later, in milliseconds since the epoch. */
  since(time: number): readonly Answer[] {
    return this.#answers.filter(({ startedAt }) => startedAt >= time);
  }

  /** Resolves when the last three calls of each kind that started now or later were answered well, and no earlier call waits. */
  async untilGood(): Promise<void> {
    const from = Date.now();
    await eventually(
      () => {
        const answers = this.since(from);
        const last = CALLS.filter((call) => !this.#paused.has(call)).map((call) => [
          call,
          answers
            .filter((each) => each.call === call)
            .slice(-GOOD_IN_A_ROW)
            .map(({ answer }) => answer),
        ]);
        expect([...this.#waiting].filter(({ startedAt }) => startedAt < from)).toEqual([]);
        expect(last).toEqual(last.map(([call]) => [call, Array.from({ length: GOOD_IN_A_ROW }, () => "ok")]));
      },
      { timeoutMs: RECOVERY_MS_MAX, everyMs: 100 },
    );
  }

  /** Resolves when no call of this kind is without an answer; none is made until `resume`. */
  async pause(call: Call): Promise<void> {
    this.#paused.add(call);
    await eventually(() => expect(this.#waitingFor(call)).toBe(0), { timeoutMs: RECOVERY_MS_MAX });
  }

  resume(call: Call): void {
    this.#paused.delete(call);
  }

  /** Makes no more calls, and resolves when every call has its answer. */
  async stop(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    await Promise.all(CALLS.map((call) => this.pause(call)));
  }

  #waitingFor(call: Call): number {
    return [...this.#waiting].filter((each) => each.call === call).length;
  }

  async #make(call: Call): Promise<void> {
    if (this.#paused.has(call) || this.#waitingFor(call) >= WAITING_MAX) return;
    const started = performance.now();
    const made = { call, startedAt: Date.now() };
    this.#waiting.add(made);
    const { answer, retryAfter } = await this.#calls[call]();
    this.#waiting.delete(made);
    this.#answers.push({ ...made, ms: performance.now() - started, answer, retryAfter });
  }
}
