import dns from "node:dns";
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { eventually, startTcpProxy } from "@brand-records/testkit";
import { callContext, echoMethods, EchoService, own, serve } from "../test/echo-service.ts";
import { connectRpc } from "./connect.ts";

/** What the server of `listen` has accepted. */
let accepted: Socket[] = [];
let server: Server | undefined;

afterEach(() => {
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

const client = (address: string) => own(connectRpc(EchoService, address, { methods: echoMethods() }));
const forwardTo =
  (port: number) =>
  (socket: Socket): void =>
    void socket.pipe(connect(port, "127.0.0.1")).pipe(socket);

it("connects before the first calls, which use these connections", async () => {
  const echoing = client(await listen(forwardTo((await serve()).port)));
  expect(accepted).toEqual([]);
  await echoing.connected();
  // Methods that are retried have a connection of their own.
  expect(accepted.length).toBe(2);
  await Promise.all([echoing.say({ n: 1 }, callContext()), echoing.saySafely({ n: 2 }, callContext())]);
  expect(accepted.length).toBe(2);
});

it("gives up when nothing listens, and connects with a later call", async () => {
  const proxy = own(await startTcpProxy({ host: "127.0.0.1", port: (await serve()).port }));
  await proxy.cut();
  const later = client(`127.0.0.1:${proxy.port}`);
  await later.connected();
  await proxy.heal();
  await eventually(async () => expect(await later.say({ n: 1 }, callContext())).toEqual({ n: 1 }));
});

it("goes on when a name is unknown at first, so that no call fails once it is known", async () => {
  const lookup = jest.spyOn(dns.promises, "lookup").mockRejectedValue(new Error("ENOTFOUND"));
  const [, port] = (await listen(forwardTo((await serve()).port))).split(":");
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
