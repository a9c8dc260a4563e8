import { newCallContext } from "@brand-records/rpc";
import type { InBrand } from "./operation.ts";
import { RECEIVERS } from "./receivers.ts";

it("refuses to call a receiver enabled that was disabled again meanwhile", async () => {
  const receivers = { enableReceiver: async () => ({ receiver: { id: "rcv_1", enabled: false }, dropped: 3 }) };
  const caller = { call: newCallContext(5_000, "test"), brand: { id: "brd_1" }, person: { email: "ana@ulap.example" } };
  const input = { brand_id: "brd_1", receiver_id: "rcv_1", held: "drop" } as const;
  const enabling = RECEIVERS["receivers.enable"].run({ receivers } as never, caller as unknown as InBrand, input);
  await expect(enabling).rejects.toMatchObject({ kind: "request_conflict" });
});
