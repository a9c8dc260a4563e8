import { NO_CONTENT, startRawReceiver, type RawReceiver } from "../../test/raw-receiver.ts";
import { attemptPost } from "./attempt.ts";
import { ResponseHeads } from "./continue-responses.ts";
import { ReceiverAgent } from "./receiver-agent.ts";

/** RFC 9110 §15.2: informational responses may come before the response itself, although none was requested. */

const CONTINUE = "HTTP/1.1 100 Continue\r\n\r\n";
const HINTS = "HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n";
const PROCESSING = "HTTP/1.1 102 Processing\r\n\r\n";
/** What undici gets of CONTINUE. */
const PROCESSING_CONTINUE = CONTINUE.replace("100", "102");

let agent: ReceiverAgent;
let receiver: RawReceiver | undefined;
beforeEach(() => {
  agent = new ReceiverAgent({ allowLoopback: true, connectionsMax: 1 });
});
afterEach(async () => {
  await agent.stop();
  await receiver?.stop();
});

const post = (url: string) => attemptPost(agent, { url, headers: {}, body: Buffer.from("{}"), deadlineMs: 10_000 });

it.each([
  ["100", CONTINUE],
  ["102", PROCESSING],
  ["103", HINTS],
  ["100 without a reason", "HTTP/1.1 100 \r\n\r\n"],
  ["100 with headers", "HTTP/1.1 100 Continue\r\nDate: Sat, 21 Nov 2026 02:15:09 GMT\r\n\r\n"],
  ["two times 100", CONTINUE + CONTINUE],
  ["103, 100 and 102", HINTS + CONTINUE + PROCESSING],
])("%s before the response changes nothing, and the connection is kept", async (_, informational) => {
  const statuses = ["200 OK", "500 Failed", "200 OK"];
  receiver = await startRawReceiver(({ socket, number }) =>
    socket.write(`${informational}HTTP/1.1 ${statuses[number - 1]}\r\nContent-Length: ${CONTINUE.length}\r\n\r\n${CONTINUE}`),
  );
  const response = Buffer.from(CONTINUE);
  expect(await post(receiver.url)).toMatchObject({ kind: "accepted", httpStatus: 200, response });
  expect(await post(receiver.url)).toMatchObject({ kind: "refused", httpStatus: 500, response });
  expect(await post(receiver.url)).toMatchObject({ kind: "accepted", httpStatus: 200, response });
  expect(receiver.requests.map(({ number }) => number)).toEqual([1, 2, 3]);
});

it("100 alone is no response", async () => {
  receiver = await startRawReceiver(({ socket }) => socket.end(CONTINUE));
  expect(await post(receiver.url)).toMatchObject({ kind: "closed", httpStatus: null });
});

it("100 is found however the bytes are divided, and before the response alone", () => {
  const received = `${CONTINUE}${HINTS}${CONTINUE}${NO_CONTENT}${CONTINUE}`;
  const expected = `${PROCESSING_CONTINUE}${HINTS}${PROCESSING_CONTINUE}${NO_CONTENT}${CONTINUE}`;
  for (let length = 1; length <= received.length; length += 1) {
    const heads = new ResponseHeads();
    let passed = "";
    for (let at = 0; at < received.length; at += length) {
      const chunk = Buffer.from(received.slice(at, at + length));
      heads.rename(chunk);
      passed += chunk.toString();
    }
    expect(passed).toBe(expected);
  }
});
