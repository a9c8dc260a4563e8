import { useEffect, useState } from "react";
import { timeLeft } from "../../parts/deliveries/retry-text.ts";

/** The time until a moment, counting down. Not a live region: it would speak every second. */
export function TimeUntil({ at }: { readonly at: number }) {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  const left = timeLeft(at - now);
  return <span>{left === "now" ? "now" : `in ${left}`}</span>;
}
