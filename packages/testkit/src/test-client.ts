import type { CallContext, RpcClient, RpcConnection } from "@brand-records/rpc";

/** A client whose calls have a context of their own, unless they are given one. */
export type TestClient<Service> = {
  readonly [Name in Exclude<keyof Service, keyof RpcConnection>]: RpcClient<Service>[Name] extends (
    request: infer Request,
    context: CallContext,
  ) => infer Response
    ? (request: Request, context?: CallContext) => Response
    : never;
};

/** @param callContext returns the context of a call that is given none */
export const testClient = <Service>(client: RpcClient<Service>, callContext: () => CallContext): TestClient<Service> =>
  Object.fromEntries(
    Object.entries<(request: unknown, context: CallContext) => unknown>(client as never).map(([name, call]) => [
      name,
      (request: unknown, context = callContext()) => call(request, context),
    ]),
  ) as TestClient<Service>;
