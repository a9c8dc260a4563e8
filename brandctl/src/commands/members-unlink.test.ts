import { FakeAccounts } from "../../test/fake-accounts.ts";
import { serve, type Served } from "../../test/serve.ts";
import { brandctl, type Outcome } from "../../test/test-terminal.ts";

describe("brandctl members unlink", () => {
  let accounts: FakeAccounts;
  let served: Served;
  const run = (line: string): Promise<Outcome> =>
    brandctl(`members unlink ${line}`.split(" "), { env: { ACCOUNTS_ADDRESS: served.address } });

  beforeAll(async () => {
    accounts = new FakeAccounts();
    served = await serve(...accounts.served);
    accounts.add();
    accounts.members.push({ brand_id: "brd_1", email: "ana@ulap.example", role: "member", created_at: "2026-11-21T08:30:00.000Z" });
  });
  afterAll(() => served.stop());

  it("says how many accounts it has unlinked, and when there was none", async () => {
    accounts.identities.push("a", "b");
    expect((await run("ana@ulap.example")).stdout).toBe("ana@ulap.example is unlinked from 2 accounts and signed out everywhere\n");
    expect((await run("ana@ulap.example")).stdout).toBe("ana@ulap.example has no account at a provider: nothing was changed\n");
    accounts.identities.push("a");
    expect((await run("ana@ulap.example --json")).json()).toEqual({ email: "ana@ulap.example", unlinked: 1 });
  });

  it("gives a hint for an address that is not a member's", async () => {
    const { code, stderr } = await run("stranger@example.ph");
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining("brandctl members add EMAIL") });
  });
});
