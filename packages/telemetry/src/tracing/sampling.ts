let ratio = 0;

/** @param share of the traces that begin here, from 0 to 1; 0 while tracing is off */
export function setSamplingRatio(share: number): void {
  ratio = share;
}

/**
 * Decides whether a trace that begins here, or comes from outside, is sampled. By chance alone: neither the sampled flag nor the trace id
 * of a public caller decides, because both are the caller's choice. (A decision by trace id, as SDKs make it, would let a caller try ids.)
 */
export const isChosen = (): boolean => ratio > 0 && Math.random() < ratio;
