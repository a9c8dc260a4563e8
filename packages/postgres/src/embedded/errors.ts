/** The embedded server cannot do as asked. The message names the directory or port and the cure. */
export class EmbeddedPostgresError extends Error {
  override readonly name: string = "EmbeddedPostgresError";
}

/** The server ended before it answered. */
export class ServerEndedError extends EmbeddedPostgresError {
  override readonly name = "ServerEndedError";
  /** Somebody else listens on the port. */
  readonly portTaken: boolean;
  /** Sessions of a server that was killed outlive it by a moment and hold its memory. */
  readonly memoryHeld: boolean;

  /** @param output the last lines it wrote, with messages in English */
  constructor(dataDir: string, port: number, output: string) {
    const portTaken = output.includes("could not create any TCP/IP sockets");
    const reason = portTaken ? `port ${port} is taken` : `it ended. "npm run reset" deletes its data, if that is what is broken`;
    super(`Postgres could not start in ${dataDir}: ${reason}. It said:\n${output}`);
    this.portTaken = portTaken;
    this.memoryHeld = output.includes("pre-existing shared memory block");
  }
}
