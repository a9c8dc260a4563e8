import { openPool } from "@brand-records/postgres";
import { IntakeServiceService } from "@brand-records/proto/webhook/v1";
import { connectRpc, serveRpc, service, type Handlers } from "@brand-records/rpc";
import { openLog, openMetrics } from "@brand-records/telemetry";
import { createDatabase } from "@brand-records/testkit";
import { describeEventLog, message, type OpenLog } from "../../test/describe-event-log.ts";
import type { Intake, ReceivedMessage } from "../event-log.ts";
import { postgresDeadLetters } from "./postgres-dead-letters.ts";
import { directPublisher } from "./publisher.ts";

const TABLE = `create table dead_letters (
  id bigint generated always as identity primary key, position text not null, reason text not null, key text not null,
  value bytea not null, headers jsonb not null, dead_lettered_at timestamptz(3) not null default now())`;

async function openDirectLog(): Promise<OpenLog> {
  const database = await createDatabase("dead_letters", async (url) => {
    const db = openPool({ url, applicationName: "prepare" });
    await db.query(TABLE);
    await db.stop();
  });
  const db = openPool({ url: database.url, applicationName: "direct log test" });
  let intake: Intake = () => Promise.reject(new Error("no reader yet"));
  // Serves it as webhook does, without its queue: the publisher makes one call at a time.
  const handlers: Handlers<IntakeServiceService> = {
    async publishMessages({ messages }) {
      if (messages.length > 0) await intake(messages.map((each) => ({ ...each, value: Buffer.from(each.value), position: "direct" })));
      return {};
    },
  };
  const server = await serveRpc({
    config: { RPC_HOST: "127.0.0.1", RPC_PORT: 0, RPC_OPERATOR_WITHOUT_TLS: "true" },
    services: [service(IntakeServiceService, handlers)],
    log: openLog("test", "silent"),
    metrics: openMetrics("test"),
  });
  const publisher = directPublisher(connectRpc(IntakeServiceService, `127.0.0.1:${server.port}`));
  return {
    publisher,
    read: async (reader) => {
      intake = reader;
      return postgresDeadLetters(db, "dead_letters", reader);
    },
    async stop() {
      await publisher.stop();
      await server.stop();
      await db.stop();
      await database.drop();
    },
  };
}

describeEventLog("direct", openDirectLog);

it("keeps a dead letter that Postgres cannot store as text, without its NULs", async () => {
  const log = await openDirectLog();
  const received: ReceivedMessage[] = [];
  const deadLetters = await log.read(async (messages) => void received.push(...messages));
  const unstorable = { ...message("sub_\0", "\0", { odd: "a\0b", "na\0me": "", escaped: "\\u0000" }), position: "direct" };
  await deadLetters.put([{ message: unstorable, reason: "contains a NUL" }]);
  expect(await deadLetters.replay()).toBe(1);
  expect(received).toMatchObject([{ ...unstorable, key: "sub_", headers: { odd: "ab", name: "", escaped: "\\u0000" } }]);
  await log.stop();
});

it("splits batches that are too large for one gRPC message", async () => {
  const log = await openDirectLog();
  let received = 0;
  await log.read(async (messages) => void (received += messages.length));
  await log.publisher.publish(Array.from({ length: 40 }, () => message("sub_1", Buffer.alloc(200_000))));
  expect(received).toBe(40);
  await log.stop();
});

it("rejects and is not ready while webhook fails", async () => {
  const log = await openDirectLog();
  await expect(log.publisher.publish([message("sub_1", "a")])).rejects.toMatchObject({ kind: "internal_error" });
  expect(log.publisher.isReady()).toBe(false);
  await log.stop();
});
