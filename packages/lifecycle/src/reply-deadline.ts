/**
 * Calls `expired` after `ms` unless cancelled, but first gives the event loop one turn to read its sockets. If our own loop is late, the
 * timer fires before the loop reads a reply that has already arrived. Without the extra turn, a pause of ours (a large JSON, a garbage
 * collection) would count as the other side's.
 *
 * @returns a function that cancels; may be called at any time, any number of times
 */
export function startReplyDeadline(ms: number, expired: () => void): () => void {
  let afterPoll: NodeJS.Immediate | undefined;
  const timer = setTimeout(() => {
    afterPoll = setImmediate(expired);
  }, ms);
  return () => {
    clearTimeout(timer);
    clearImmediate(afterPoll);
  };
}
