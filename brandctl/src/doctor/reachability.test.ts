import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { eventually, killWithParent } from "@brand-records/testkit";
import { fetchText, hostAndPortOf, requireConnection } from "./reachability.ts";
import { checkRpcHealth } from "./rpc-health.ts";

/** Time for a response: what is tested here never responds. */
const RESPONSE_MS = 300;
const never = new AbortController().signal;

/** A process that listens and accepts two connections at most, frozen: the system accepts for it until its queue is full. */
async function startFrozen(): Promise<{ readonly port: number; stop(): Promise<unknown> }> {
  const script =
    "const s = require('node:net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => console.log(s.address().port))";
  const child = spawn(process.execPath, ["--eval", script], { stdio: ["ignore", "pipe", "inherit"] });
  killWithParent(child);
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  child.kill("SIGSTOP");
  return {
    port: Number(line.toString()),
    stop: () => {
      const closed = once(child, "close");
      child.kill("SIGKILL");
      return closed;
    },
  };
}

const endpointAt = (port: number) => ({ name: "webhook", address: `127.0.0.1:${port}`, from: "WEBHOOK_ADDRESS" }) as const;

it("tells a process that is slow or frozen from one that cannot be reached", async () => {
  const frozen = await startFrozen();
  const sockets: Socket[] = [];
  try {
    const url = `http://127.0.0.1:${frozen.port}/readyz`;
    expect(await fetchText(url, never, RESPONSE_MS)).toEqual({
      failure: "it accepts connections, and did not respond within 0.3 s: it is slow or frozen, not away",
    });

    // Once its queue is full, the system answers no connection, like a policy that drops them.
    await eventually(async () => {
      const socket = connect({ host: "127.0.0.1", port: frozen.port }).on("error", () => {});
      sockets.push(socket);
      await expect(requireConnection({ host: "127.0.0.1", port: frozen.port }, never, 200)).rejects.toThrow("no connection within 0.2 s");
    });
    await Promise.all([
      expect(fetchText(url, never, 60_000)).resolves.toEqual({
        failure: expect.stringMatching(/^no connection within 2 s, and no refusal: does a NetworkPolicy/),
      }),
      expect(checkRpcHealth(endpointAt(frozen.port), {}, RESPONSE_MS, never)).rejects.toThrow(
        /^webhook at 127\.0\.0\.1:\d+ \(WEBHOOK_ADDRESS\) cannot be reached: no connection within 2 s/,
      ),
    ]);
  } finally {
    for (const socket of sockets) socket.destroy();
    await frozen.stop();
  }
});

it("says of a gRPC server that accepts and is silent that it is slow, and what to look at", async () => {
  const frozen = await startFrozen();
  try {
    await expect(checkRpcHealth(endpointAt(frozen.port), {}, RESPONSE_MS, never)).rejects.toMatchObject({
      code: "timeout",
      message: expect.stringMatching(/did not respond in time: it accepts connections, and did not respond within 0\.3 s: it is slow/),
      hint: expect.stringContaining("short of CPU"),
    });
  } finally {
    await frozen.stop();
  }
});

it.each([
  ["records:7000", { host: "records", port: 7000 }],
  ["dns:///br-brand-records-records:7000", { host: "br-brand-records-records", port: 7000 }],
  ["[::1]:7000", { host: "::1", port: 7000 }],
  ["ipv4:10.0.0.1:7000,10.0.0.2:7000", undefined],
  ["dns://10.0.0.1:53/records:7000", undefined],
])("reads %s", (target, expected) => {
  expect(hostAndPortOf(target)).toEqual(expected);
});
