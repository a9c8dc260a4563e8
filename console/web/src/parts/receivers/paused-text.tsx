import { Until } from "../until.tsx";
import { When } from "../when.tsx";

/** Says until when nothing is sent to a receiver, and why. */
export const PausedText = ({ until, failuresInARow }: { readonly until: string; readonly failuresInARow: number }) => (
  <Until
    at={until}
    afterwards={`Sending to this receiver was paused, because ${failuresInARow} attempts failed in a row. One delivery is tried now.`}
  >
    Sending to this receiver is paused until <When at={until} />, because {failuresInARow} attempts failed in a row. Then one delivery is
    tried.
  </Until>
);
