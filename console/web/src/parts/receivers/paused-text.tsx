import { When } from "../when.tsx";

/** Says until when nothing is sent to a receiver, and why. */
export const PausedText = ({ until, failuresInARow }: { readonly until: string; readonly failuresInARow: number }) => (
  <>
    Sending to this receiver is paused until <When at={until} />, because {failuresInARow} attempts failed in a row. Then one delivery is
    tried.
  </>
);
