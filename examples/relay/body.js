/** Leaves a margin: deliveries have at most 20 KiB. */
const BODY_BYTES_MAX = 64 * 1024;

/** A body that cannot be read to its end. */
export class BodyProblem extends Error {
  /**
   * @param {number} status of the response
   * @param {string} message
   */
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/**
 * Reads the raw body: parsed and written again, its bytes would differ from the signed ones.
 *
 * @param {import("node:http").IncomingMessage} request
 * @returns {Promise<Buffer>}
 * @throws {BodyProblem}
 */
export function readBody(request) {
  return new Promise((resolve, reject) => {
    /** @type {Buffer[]} */
    const chunks = [];
    let bytes = 0;
    request.on("data", (/** @type {Buffer} */ chunk) => {
      bytes += chunk.length;
      if (bytes <= BODY_BYTES_MAX) return chunks.push(chunk);
      // Paused, not destroyed: the response must still be sent.
      request.pause();
      reject(new BodyProblem(413, "too large"));
    });
    request.on("end", () => resolve(Buffer.concat(chunks)));
    // The sender closed the connection, or took longer than the server allows.
    request.on("error", () => reject(new BodyProblem(400, "incomplete")));
  });
}
