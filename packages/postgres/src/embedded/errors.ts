/** The embedded server cannot start or stop. The message names the directory or port, and what to do. */
export class EmbeddedPostgresError extends Error {
  override readonly name: string = "EmbeddedPostgresError";
}

/** The server ended before it was ready. */
export class ServerEndedError extends EmbeddedPostgresError {
  override readonly name = "ServerEndedError";
  /** Another process listens on the port. */
  readonly portTaken: boolean;
  /** Sessions of a killed server outlive it for a moment and hold its memory. */
  readonly memoryHeld: boolean;

  /** @param output its last lines, with messages in English */
  constructor(dataDir: string, port: number, output: string) {
    const portTaken = output.includes("could not create any TCP/IP sockets");
    const reason = portTaken ? `port ${port} is taken` : `it ended. If its data are broken, "npm run reset" deletes them`;
    super(`Postgres could not start in ${dataDir}: ${reason}. Its output:\n${output}`);
    this.portTaken = portTaken;
    this.memoryHeld = output.includes("pre-existing shared memory block");
  }
}
