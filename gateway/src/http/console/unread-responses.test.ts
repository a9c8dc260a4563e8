import { once } from "node:events";
import { eventually } from "@brand-records/testkit";
import { serveForwarding, type ServedForwarding } from "../../../test/serve-forwarding.ts";
import type { ConsoleRequest } from "./upstream.ts";

/** One promise: clients that read none of their responses occupy no request in flight, and bounded memory. */

/** More requests than one network may have in flight. */
const READERS = 70;
/** More than the kernel's buffers hold for a client. */
const LARGE = Buffer.alloc(8 * 1024 * 1024 - 1_024, "x");

let gateway: ServedForwarding;
let requests: ConsoleRequest[];
beforeAll(async () => {
  requests = [];
  const upstream = {
    request(request: ConsoleRequest) {
      requests.push(request);
      return Promise.resolve({ statusCode: 200, headers: {}, body: request.path === "/developers" ? Buffer.from("console") : LARGE });
    },
    requestElsewhere: () => Promise.reject(new Error("nothing is looked for")),
  };
  gateway = await serveForwarding(upstream);
});
afterAll(() => gateway.stop());

it("serves a page while one network reads none of 70 scripts, and gives up those that have waited longest", async () => {
  const readers = Array.from({ length: READERS }, async () => {
    const socket = gateway.send("GET /console/assets/x HTTP/1.1\r\nHost: x\r\n\r\n").pause();
    await once(socket, "connect");
    return socket;
  });
  const sockets = await Promise.all(readers);
  await eventually(() => expect(requests.length).toBe(READERS));
  expect(await (await fetch(`${gateway.url}/developers`)).text()).toBe("console");
  // 64 MiB are eight of them.
  const isCut = await Promise.all(
    sockets.map(async (socket) => {
      let bytes = 0;
      socket.on("data", (chunk: Buffer) => (bytes += chunk.length));
      socket.resume();
      await Promise.race([once(socket, "close"), eventually(() => expect(bytes).toBeGreaterThan(LARGE.length), { timeoutMs: 60_000 })]);
      return bytes < LARGE.length;
    }),
  );
  expect(isCut.filter((cut) => !cut)).toHaveLength(8);
}, 90_000);
