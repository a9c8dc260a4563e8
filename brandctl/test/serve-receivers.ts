import { FakeAudit } from "./fake-audit.ts";
import { FakeWebhook } from "./fake-webhook.ts";
import { serve, type Served } from "./serve.ts";
import { brandctl, type Outcome, type Surroundings } from "./test-terminal.ts";

export interface ReceiverCommands {
  /** Has no receivers when a test begins. */
  readonly fake: FakeWebhook;
  /** Runs a command line, of words between single blanks, against the fake. */
  run(line: string, surroundings?: Surroundings): Promise<Outcome>;
  /** The environment that leads to the fake. */
  env(): { readonly WEBHOOK_ADDRESS: string; readonly ACCOUNTS_ADDRESS: string };
}

/** The options of `receivers create` that every test of it needs; the event types follow. */
export const CREATE = "receivers create --brand brd_1 --url https://hooks.ulap.example/in?t=tok3n --label Ledger --events";

/** Serves a fake webhook service for the tests of a file. */
export function serveReceivers(): ReceiverCommands {
  const fake = new FakeWebhook();
  let served: Served;
  beforeAll(async () => {
    served = await serve(...fake.served, ...new FakeAudit().served);
  });
  afterAll(() => served.stop());
  beforeEach(() => void fake.receivers.splice(0));
  const env = () => ({ WEBHOOK_ADDRESS: served.address, ACCOUNTS_ADDRESS: served.address });
  return { fake, env, run: (line, surroundings = {}) => brandctl(line.split(" "), { env: env(), ...surroundings }) };
}
