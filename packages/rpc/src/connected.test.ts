import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { eventually, startTcpProxy } from "@brand-records/testkit";
import { callContext, echoMethods, EchoService, serveEcho } from "../test/echo-service.ts";
import { connectRpc } from "./connect.ts";

/** What the server of `listen` has accepted. */
let accepted: Socket[] = [];
let server: Server | undefined;
const open: { stop(): void | Promise<void> }[] = [];

afterEach(async () => {
  for (const thing of open.splice(0).toReversed()) await thing.stop();
  for (const socket of accepted.splice(0)) socket.destroy();
  server?.close();
});

/** @param onConnection what becomes of a connection. Default: nothing, ever */
async function listen(onConnection: (socket: Socket) => void = () => {}): Promise<string> {
  server = createServer((socket) => {
    accepted.push(socket);
    socket.on("error", () => {});
    onConnection(socket);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function client(address: string) {
  const connected = connectRpc(EchoService, address, { methods: echoMethods() });
  open.push(connected);
  return connected;
}

it("connects before the first calls, which use these connections", async () => {
  const echo = await serveEcho();
  open.push(echo);
  const forward = (socket: Socket): void => void socket.pipe(connect(echo.port, "127.0.0.1")).pipe(socket);
  const echoing = client(await listen(forward));
  expect(accepted).toEqual([]);
  await echoing.connected();
  // Methods that are retried have a connection of their own.
  expect(accepted.length).toBe(2);
  await Promise.all([echoing.say({ n: 1 }, callContext()), echoing.saySafely({ n: 2 }, callContext())]);
  expect(accepted.length).toBe(2);
});

it("gives up when nothing listens, and connects with a later call", async () => {
  const echo = await serveEcho();
  const proxy = await startTcpProxy({ host: "127.0.0.1", port: echo.port });
  open.push(echo, proxy);
  await proxy.cut();
  const later = client(`127.0.0.1:${proxy.port}`);
  await later.connected();
  await proxy.heal();
  await eventually(async () => expect(await later.say({ n: 1 }, callContext())).toEqual({ n: 1 }));
});

it("does not wait for a server that accepts and answers nothing", async () => {
  const waiting = client(await listen());
  await waiting.connected();
  expect(accepted.length).toBe(2);
});
