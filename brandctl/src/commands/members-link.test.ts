import { FakeAccounts } from "../../test/fake-accounts.ts";
import { serve, type Served } from "../../test/serve.ts";
import { brandctl, type Outcome } from "../../test/test-terminal.ts";

describe("brandctl members link", () => {
  let accounts: FakeAccounts;
  let served: Served;
  const run = (line: string, env: NodeJS.ProcessEnv = { BASE_URL: "https://data.example/" }): Promise<Outcome> =>
    brandctl(`members link ${line}`.split(" "), { env: { ACCOUNTS_ADDRESS: served.address, ...env } });

  beforeAll(async () => {
    accounts = new FakeAccounts();
    served = await serve(...accounts.served);
    accounts.add();
    accounts.members.push({ brand_id: "brd_1", email: "ana@ulap.example", role: "member", created_at: "2026-11-21T08:30:00.000Z" });
  });
  afterAll(() => served.stop());
  beforeEach(() => void accounts.links.splice(0));

  it("writes the link alone to standard output", async () => {
    const { code, stdout, stderr } = await run("ana@ulap.example");
    expect({ code, stdout }).toEqual({ code: 0, stdout: "https://data.example/sign-in#t0k3n\n" });
    expect(stderr).toContain("\nIt signs ana@ulap.example in, once, until 2026-11-21 08:45 UTC.");
    expect(stderr).not.toContain("t0k3n");
    expect(accounts.links).toEqual([900]);
  });

  it("prints url and expires_at with --json, and nothing else", async () => {
    const outcome = await run("ana@ulap.example --json --valid-for 1440");
    expect(outcome.json()).toEqual({ url: "https://data.example/sign-in#t0k3n", expires_at: "2026-11-21T08:45:00.000Z" });
    expect(outcome.stderr).toBe("");
    expect(accounts.links).toEqual([86_400]);
  });

  it("leads to PUBLIC_URL rather than BASE_URL, which browsers may not reach, and to --base-url rather than both", async () => {
    const env = { BASE_URL: "http://gateway:8080", PUBLIC_URL: "https://data.example" };
    expect((await run("ana@ulap.example", env)).stdout).toBe("https://data.example/sign-in#t0k3n\n");
    expect((await run("ana@ulap.example --base-url https://other.example", env)).stdout).toBe("https://other.example/sign-in#t0k3n\n");
  });

  it.each(["0", "1441", "1h"])("refuses --valid-for %s", async (minutes) => {
    expect((await run(`ana@ulap.example --valid-for ${minutes}`)).code).toBe(2);
    expect(accounts.links).toEqual([]);
  });

  it("gives a hint for an address that is not a member's", async () => {
    const { code, stderr } = await run("stranger@example.ph");
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining("brandctl members add EMAIL") });
  });

  it("makes no link if it does not know where it leads", async () => {
    const { code, stderr } = await run("ana@ulap.example", {});
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining("no --base-url, no PUBLIC_URL, no BASE_URL") });
    expect(accounts.links).toEqual([]);
  });
});
