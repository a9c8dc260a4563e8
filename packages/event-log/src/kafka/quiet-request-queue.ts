import RequestQueue from "kafkajs/src/network/requestQueue/index.js";

interface Queue {
  pending: unknown[];
  throttledUntil: number;
}

const prototype = RequestQueue.prototype as unknown as { scheduleCheckPendingRequests(this: Queue): void };
const schedule = prototype.scheduleCheckPendingRequests;

/**
 * kafkajs 2.2.4 asks for a timer after every request and every answer, whether something waits or not: with a delay in the
 * past, which Node 24 warns about, and again every millisecond, which takes 2% of a CPU. Where nothing waits there is
 * nothing to check; what is sent later asks for itself.
 */
prototype.scheduleCheckPendingRequests = function scheduleIfSomethingWaits(this: Queue): void {
  if (this.pending.length > 0) schedule.call(this);
};
