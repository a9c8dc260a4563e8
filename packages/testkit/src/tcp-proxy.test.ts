import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { startTcpProxy, type TcpProxy } from "./tcp-proxy.ts";

/** Echoes, and ends its side after the client has. */
let echo: Server;
let proxy: TcpProxy;
const sockets: Socket[] = [];

beforeEach(async () => {
  echo = createServer({ allowHalfOpen: true }, (socket) => void socket.on("error", () => {}).pipe(socket));
  await once(echo.listen(0, "127.0.0.1"), "listening");
  proxy = await startTcpProxy({ host: "127.0.0.1", port: (echo.address() as AddressInfo).port });
});

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await proxy.stop();
  await new Promise((resolve) => echo.close(resolve));
});

async function dial(): Promise<Socket> {
  const socket = connect({ host: "127.0.0.1", port: proxy.port });
  sockets.push(socket);
  await once(socket, "connect");
  return socket;
}

/** Collects what the socket receives. */
function received(socket: Socket): { text(): string; all(length: number): Promise<string> } {
  let text = "";
  let arrived = (): void => {};
  socket.on("data", (chunk) => {
    text += chunk.toString();
    arrived();
  });
  return {
    text: () => text,
    all: (length) =>
      new Promise((resolve) => {
        arrived = () => text.length >= length && resolve(text);
        arrived();
      }),
  };
}

describe("startTcpProxy", () => {
  it("forwards bytes in order in both directions, and then the end of the stream", async () => {
    const socket = await dial();
    const back = received(socket);
    const sent = Array.from({ length: 20_000 }, (_, i) => `${i}\n`).join("");
    socket.end(sent);
    await once(socket, "end");
    expect(back.text()).toBe(sent);
  });

  it("resets open connections and refuses new ones from cut until heal", async () => {
    const socket = await dial();
    const reset = once(socket, "error");
    await proxy.cut();
    await expect(reset.then(([error]) => Promise.reject(error as Error))).rejects.toMatchObject({ code: "ECONNRESET" });
    await expect(dial()).rejects.toMatchObject({ code: "ECONNREFUSED" });
    await proxy.heal();
    const again = await dial();
    again.write("violet");
    expect(await received(again).all(6)).toBe("violet");
  });

  it("holds bytes back from blackhole until heal, and then delivers them", async () => {
    const before = await dial();
    const backBefore = received(before);
    before.write("one");
    await backBefore.all(3);
    await proxy.blackhole();
    const during = await dial();
    const backDuring = received(during);
    before.write(" two");
    during.write("three");
    // A round trip past the proxy takes as many steps as the one that must not happen.
    const direct = connect((echo.address() as AddressInfo).port, "127.0.0.1");
    sockets.push(direct);
    direct.write("four");
    await received(direct).all(4);
    expect([backBefore.text(), backDuring.text()]).toEqual(["one", ""]);
    await proxy.heal();
    expect(await backBefore.all(7)).toBe("one two");
    expect(await backDuring.all(5)).toBe("three");
  });

  it("delays bytes in both directions and keeps their order when the delay shrinks", async () => {
    const socket = await dial();
    const back = received(socket);
    proxy.delay(40);
    const started = performance.now();
    socket.write("slow ");
    await back.all(5);
    expect(performance.now() - started).toBeGreaterThanOrEqual(79); // A lower bound holds on a busy machine too.
    socket.write("first ");
    proxy.delay(1);
    socket.write("second");
    expect(await back.all(17)).toBe("slow first second");
  });

  it("resets the client when the target refuses the connection", async () => {
    const unreachable = await startTcpProxy({ host: "127.0.0.1", port: 1 });
    const socket = connect({ host: "127.0.0.1", port: unreachable.port });
    const [error] = (await once(socket, "error")) as [NodeJS.ErrnoException];
    expect(error.code).toBe("ECONNRESET");
    await unreachable.stop();
  });
});
