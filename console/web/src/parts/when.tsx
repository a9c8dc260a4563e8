import { useSyncExternalStore } from "react";
import { eachMinute, today } from "./filters/days.ts";
import { fullText, whenText, type Precision } from "./when-text.ts";

interface WhenProps extends Precision {
  /** Null shows nothing. */
  readonly at: string | null;
  /** The words around it. */
  readonly before?: string;
  readonly after?: string;
}

/** A moment in Manila time: the day and time, with the year if it is another one; in full as a tooltip. */
export function When({ at, before, after, ...precision }: WhenProps) {
  const presentDay = useSyncExternalStore(eachMinute, () => today());
  if (at === null) return null;
  const date = new Date(at);
  return (
    <>
      {before}
      <time dateTime={at} title={fullText(date)}>
        {whenText(date, { day: today(date), presentDay }, precision)}
      </time>
      {after}
    </>
  );
}
