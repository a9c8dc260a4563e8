/** Ends the program with an exit code: 1 run it again later, 2 a person must act, 75 another walk is running. */
export class Stop extends Error {
  /**
   * @param {number} exitCode
   * @param {string} message
   */
  constructor(exitCode, message) {
    super(message);
    this.exitCode = exitCode;
  }
}
