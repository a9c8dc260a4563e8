import { connect } from "node:net";
import type { RandomConnection, SentRequest } from "./random-connection.ts";
import { readResponses, type ReadResponse } from "./read-responses.ts";

/** A connection on which nothing arrives any more, although the gateway keeps it open: the rest of a request is missing. */
const QUIET_MS = 300;
/** The same before the first byte. */
const SILENT_MS = 1_500;
/** Longer than each of the gateway's timeouts. */
const OPEN_MS_MAX = 60_000;
const UNREAD_MS = 20;

export interface ConnectionResult {
  /** What must not happen. */
  readonly problems: readonly string[];
  readonly statuses: readonly number[];
}

/** Sends a connection's bytes, ends it as it says, and checks that each response belongs to its request. */
export async function runConnection(port: number, connection: RandomConnection): Promise<ConnectionResult> {
  let bytes: Buffer;
  try {
    bytes = await exchange(port, connection);
  } catch (error) {
    return { problems: [`connection ${connection.id}: ${String(error)}`], statuses: [] };
  }
  const methods = new Map(connection.requests.map(({ marker, method }) => [marker, method]));
  try {
    const responses = readResponses(bytes, (requestId) => methods.get(requestId ?? "") === "HEAD");
    const problems = [
      ...wronglyPaired(connection, responses),
      ...(connection.isPlain ? missingResponses(connection.requests, responses) : []),
    ];
    return {
      problems: problems.map((problem) => `connection ${connection.id}: ${problem}`),
      statuses: responses.map(({ status }) => status),
    };
  } catch (error) {
    return { problems: [`connection ${connection.id}: ${String(error)}`], statuses: [] };
  }
}

/** Resolves with everything received, once the connection is closed. */
function exchange(port: number, { pieces, ending, isPlain }: RandomConnection): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true, noDelay: true });
    const received: Buffer[] = [];
    const timeout = setTimeout(() => {
      socket.destroy();
      reject(new Error("is still open"));
    }, OPEN_MS_MAX);
    const finish = (): void => {
      clearTimeout(timeout);
      clearTimeout(quiet);
      resolve(Buffer.concat(received));
    };
    let quiet: NodeJS.Timeout | undefined;
    const waitForMore = (): void => {
      clearTimeout(quiet);
      if (!isPlain) quiet = setTimeout(() => socket.destroy(), received.length === 0 ? SILENT_MS : QUIET_MS);
    };
    socket.on("error", () => {});
    socket.on("close", finish);
    socket.on("end", () => socket.end());
    if (ending !== "unread") {
      socket.on("data", (chunk: Buffer) => {
        received.push(chunk);
        if (ending === "wait") waitForMore();
      });
    }
    const end = (): void => {
      if (ending === "wait") waitForMore();
      else if (ending === "reset") socket.resetAndDestroy();
      else if (ending === "half-close") socket.end();
      else if (ending === "destroy") socket.destroy();
      else setTimeout(() => socket.destroy(), UNREAD_MS);
    };
    const send = (index: number): void => {
      const piece = pieces[index];
      if (socket.destroyed || socket.writableEnded) return;
      if (piece === undefined) return end();
      socket.write(piece, () => setImmediate(send, index + 1));
    };
    socket.on("connect", () => send(0));
  });
}

const indexOf = (marker: string): number => Number(/-r(\d+)-/.exec(marker)?.[1]);

function wronglyPaired({ id, requests }: RandomConnection, responses: readonly ReadResponse[]): string[] {
  const problems: string[] = [];
  const sent = new Set(requests.flatMap(({ marker }) => [marker, marker.replace(/^(c\d+-r\d+)-.*$/, "$1-hidden")]));
  let last = -1;
  let isLast = false;
  for (const { headers, body, isCut } of responses) {
    if (isLast) problems.push("a response follows the one that closes the connection");
    isLast = headers["connection"] === "close" || isCut;
    const requestId = headers["x-request-id"];
    const from = headers["x-upstream-marker"];
    if (from !== undefined && from !== requestId) problems.push(`${requestId} got the response to ${from}`);
    if (from !== undefined && !isCut && body !== "" && !body.startsWith(`${from}|`))
      problems.push(`${from} has the body ${body.slice(0, 80)}`);
    // The gateway's own id: the request's was not readable.
    if (requestId === undefined || !/^c\d+-r/.test(requestId)) continue;
    if (!sent.has(requestId)) problems.push(`got the response to ${requestId}, which another connection sent (this one is c${id})`);
    if (indexOf(requestId) < last) problems.push(`${requestId} came after response ${last}`);
    last = indexOf(requestId);
  }
  return problems;
}

/** Every plain request is served, with its body whole. */
function missingResponses(requests: readonly SentRequest[], responses: readonly ReadResponse[]): string[] {
  return requests.flatMap(({ marker, method, body }, n) => {
    const response = responses[n];
    const isServed =
      response?.status === 200 &&
      response.headers["x-upstream-marker"] === marker &&
      (method === "HEAD" || response.body === `${marker}|${body.length}`);
    return isServed ? [] : [`${method} ${marker} got ${response?.status ?? "nothing"} ${response?.body.slice(0, 200) ?? ""}`];
  });
}
