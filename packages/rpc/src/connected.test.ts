import dns from "node:dns";
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

it("goes on when a name is unknown at first, so that no call fails once it is known", async () => {
  const echo = await serveEcho();
  open.push(echo);
  const lookup = jest.spyOn(dns.promises, "lookup").mockRejectedValue(new Error("ENOTFOUND"));
  const forward = (socket: Socket): void => void socket.pipe(connect(echo.port, "127.0.0.1")).pipe(socket);
  const [, port] = (await listen(forward)).split(":");
  const later = client(`dns:///localhost:${port}`);
  await later.connected();
  expect(accepted.length).toBe(0);
  lookup.mockResolvedValue([{ address: "127.0.0.1", family: 4 }] as never);
  await eventually(() => expect(accepted.length).toBe(2));
  expect(await later.say({ n: 1 }, callContext())).toEqual({ n: 1 });
  lookup.mockRestore();
});

it("does not wait for ever for a server that answers nothing", async () => {
  const waiting = client(await listen());
  await waiting.connected();
  expect(accepted.length).toBe(2);
});

it("connects no more once it is stopped", async () => {
  const address = await listen();
  const stopped = client(address);
  const connecting = stopped.connected();
  await eventually(() => expect(accepted.length).toBe(2));
  stopped.stop();
  await connecting;
  // What the client had begun would be accepted before this.
  const ours = connect(Number(address.split(":")[1]), "127.0.0.1");
  await eventually(() => expect(accepted.some(({ remotePort }) => remotePort === ours.localPort)).toBe(true));
  expect(accepted.length).toBe(3);
  ours.destroy();
});
