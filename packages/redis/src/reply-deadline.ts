/**
 * Calls `expired` unless cancelled within `ms`, and before that gives the event loop one turn to read its sockets. When
 * it is our own loop that is late, the timer fires before the reply that has been lying in the socket is read: without
 * the turn a pause of ours (a large JSON, a garbage collection) would count as Redis being down.
 *
 * @returns cancels; any number of calls, at any time
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
