import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { startTcpProxy, type TcpProxy } from "./tcp-proxy.ts";

/** Echoes, and ends its side when the other has. */
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

/** What has come back so far, and once it is all there. */
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
  it("forwards both ways, in order, and the end of the conversation", async () => {
    const socket = await dial();
    const back = received(socket);
    const sent = Array.from({ length: 20_000 }, (_, i) => `${i}\n`).join("");
    socket.end(sent);
    await once(socket, "end");
    expect(back.text()).toBe(sent);
  });

  it("cuts: resets what is open, refuses what comes, until it is healed", async () => {
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

  it("swallows in a black hole, and delivers after it is healed", async () => {
    const before = await dial();
    const backBefore = received(before);
    before.write("one");
    await backBefore.all(3);
    await proxy.blackhole();
    const during = await dial();
    const backDuring = received(during);
    before.write(" two");
    during.write("three");
    // A conversation around the proxy takes as many steps as the one that must not happen.
    const around = connect((echo.address() as AddressInfo).port, "127.0.0.1");
    sockets.push(around);
    around.write("four");
    await received(around).all(4);
    expect([backBefore.text(), backDuring.text()]).toEqual(["one", ""]);
    await proxy.heal();
    expect(await backBefore.all(7)).toBe("one two");
    expect(await backDuring.all(5)).toBe("three");
  });

  it("delays in both directions and keeps the order when the delay shrinks", async () => {
    const socket = await dial();
    const back = received(socket);
    proxy.delay(40);
    const started = performance.now();
    socket.write("slow ");
    await back.all(5);
    expect(performance.now() - started).toBeGreaterThanOrEqual(79); // A lower bound holds on a busy machine as well.
    socket.write("first ");
    proxy.delay(1);
    socket.write("second");
    expect(await back.all(17)).toBe("slow first second");
  });

  it("resets the client when nobody listens behind it", async () => {
    const nowhere = await startTcpProxy({ host: "127.0.0.1", port: 1 });
    const socket = connect({ host: "127.0.0.1", port: nowhere.port });
    const [error] = (await once(socket, "error")) as [NodeJS.ErrnoException];
    expect(error.code).toBe("ECONNRESET");
    await nowhere.stop();
  });
});
