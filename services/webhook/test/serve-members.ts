import { AppError } from "@brand-records/errors";
import { AccountsServiceService } from "@brand-records/proto/accounts/v1";
import { connectRpc, serveRpc, service, type Handlers, type RpcClient } from "@brand-records/rpc";
import { openLog, openMetrics } from "@brand-records/telemetry";

export interface ServedMembers {
  /** Role by `brand e-mail`. A brand is known once it has a member. */
  readonly roles: Map<string, string>;
  readonly client: RpcClient<AccountsServiceService>;
  /** Ends the server: accounts is unavailable. */
  stopServer(): Promise<void>;
  stop(): Promise<void>;
}

/** Serves the members of brands over gRPC, as accounts does. */
export async function serveMembers(): Promise<ServedMembers> {
  const roles = new Map<string, string>();
  const listMembers: Handlers<AccountsServiceService>["listMembers"] = async ({ brand_id, email: only }) => {
    const members = [...roles].flatMap(([key, role]) => {
      const [brand, email = ""] = key.split(" ");
      return brand === brand_id ? [{ brand_id, email, role, created_at: "2026-11-21T08:30:00.000Z" }] : [];
    });
    if (members.length === 0) throw new AppError("not_found", "There is no brand with this id", { field: "brand_id" });
    return { members: members.filter(({ email }) => (only ?? email) === email) };
  };
  const server = await serveRpc({
    config: { RPC_HOST: "127.0.0.1", RPC_PORT: 0, RPC_OPERATOR_WITHOUT_TLS: "true" },
    services: [service(AccountsServiceService, { listMembers } as Handlers<AccountsServiceService>)],
    log: openLog("accounts", "silent"),
    metrics: openMetrics("accounts"),
  });
  const client = connectRpc(AccountsServiceService, `127.0.0.1:${server.port}`);
  let stopped: Promise<void> | undefined;
  const stopServer = (): Promise<void> => (stopped ??= server.stop());
  return {
    roles,
    client,
    stopServer,
    async stop() {
      client.stop();
      await stopServer();
    },
  };
}
