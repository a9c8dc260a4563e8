import styles from "./state-badge.module.css";

type Tone = "good" | "bad" | "waiting" | "quiet";

/** Every state that the console shows, with its text and its tone. */
const STATES = {
  active: { text: "Active", tone: "good" },
  revoked: { text: "Revoked", tone: "quiet" },
  enabled: { text: "Enabled", tone: "good" },
  paused: { text: "Paused", tone: "waiting" },
  failing: { text: "Failing", tone: "bad" },
  disabled: { text: "Disabled", tone: "bad" },
  pending: { text: "Waiting", tone: "waiting" },
  sending: { text: "Sending", tone: "waiting" },
  held: { text: "Held", tone: "quiet" },
  delivered: { text: "Delivered", tone: "good" },
  failed: { text: "Failed", tone: "bad" },
  done: { text: "Done", tone: "good" },
  completed: { text: "Completed", tone: "good" },
  cancelled: { text: "Cancelled", tone: "quiet" },
  unknown: { text: "Outcome unknown", tone: "waiting" },
} as const satisfies Record<string, { readonly text: string; readonly tone: Tone }>;

export type State = keyof typeof STATES;

/** A state as text and colour; `text` replaces the state's own, such as "Retrying, 3 of 10". */
export function StateBadge({ state, text = STATES[state].text }: { readonly state: State; readonly text?: string }) {
  return (
    <span className={styles["badge"]} data-tone={STATES[state].tone}>
      {text}
    </span>
  );
}
