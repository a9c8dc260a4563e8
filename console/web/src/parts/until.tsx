import { useEffect, useState, type ReactNode } from "react";

interface UntilProps {
  /** RFC 3339. */
  readonly at: string;
  /** What shows from then on. */
  readonly afterwards?: ReactNode;
  readonly children: ReactNode;
}

/** Shows something until a moment: a page is read again some seconds later, and would name a past time as one to come. */
export function Until({ at, afterwards = null, children }: UntilProps) {
  const [passed, setPassed] = useState<string>();
  const left = Date.parse(at) - Date.now();
  useEffect(() => {
    const timer = setTimeout(() => setPassed(at), Date.parse(at) - Date.now());
    return () => clearTimeout(timer);
  }, [at]);
  return left <= 0 || passed === at ? afterwards : children;
}
