import type { Delivery } from "@brand-records/console-contract";
import styles from "./marks.module.css";

/** Says that a delivery is not the first of its event to its receiver: part of a replay, or sent again by hand. */
export function Marks({ delivery: { replay_id, repeat_of } }: { readonly delivery: Delivery }) {
  const marks = [replay_id !== null && "Replay", repeat_of !== null && "Sent again"].filter((mark) => mark !== false);
  return marks.map((mark) => (
    <span key={mark} className={styles["mark"]}>
      {mark}
    </span>
  ));
}
