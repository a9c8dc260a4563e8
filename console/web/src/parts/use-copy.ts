import { useEffect, useState } from "react";
import { announce } from "./status-region.tsx";

/** Shown at the button and read out. */
export const NOT_COPIED = "Could not copy. Select the text.";

/** Time for which the last copy shows. */
const SHOWN_MS = 3_000;

interface Copying {
  readonly isCopied: boolean;
  /** The browser refused, or has no clipboard for a page without HTTPS. */
  readonly isRefused: boolean;
  copy(): void;
}

/** Copies a text, and says what became of it. */
export function useCopy(text: string): Copying {
  const [result, setResult] = useState<{ readonly isCopied: boolean }>();
  useEffect(() => {
    if (result?.isCopied !== true) return;
    const timer = setTimeout(() => setResult(undefined), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [result]);
  const copy = async (): Promise<void> => {
    const isCopied = await written(text);
    setResult({ isCopied });
    announce(isCopied ? "Copied" : NOT_COPIED);
  };
  return { isCopied: result?.isCopied === true, isRefused: result?.isCopied === false, copy: () => void copy() };
}

async function written(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
