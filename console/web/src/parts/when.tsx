import { useSyncExternalStore } from "react";
import { today, dayChanges } from "./filters/days.ts";
import { fullText, whenText, type Precision } from "./when-text.ts";

const onDayChange = dayChanges(globalThis);

/** A moment in Manila time: the day and time, with the year if it is another one; in full as a tooltip. */
export function When({ at, ...precision }: Precision & { readonly at: string }) {
  const date = new Date(at);
  const presentDay = useSyncExternalStore(onDayChange, () => today());
  return (
    <time dateTime={at} title={fullText(date)}>
      {whenText(date, { day: today(date), presentDay }, precision)}
    </time>
  );
}
