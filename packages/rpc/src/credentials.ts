import { ChannelCredentials, experimental, ServerCredentials } from "@grpc/grpc-js";
import type { Certificates } from "./certificates.ts";
import { serverCheck } from "./identity.ts";
import { hostsOf, requireLoopback } from "./settings.ts";

/** @throws ConfigError if RPC_HOST is reachable from other hosts without TLS */
export function serverCredentials(certificates: Certificates | undefined, host: string): ServerCredentials {
  if (certificates === undefined) {
    requireLoopback("RPC_HOST", host);
    return ServerCredentials.createInsecure();
  }
  // grpc-js 1.14 takes the two providers in the order that its parameters do not say: this is both.
  return experimental.createCertificateProviderServerCredentials(certificates, certificates, true);
}

/**
 * @param service of the calls: its certificate must be of this service; undefined for any
 * @throws ConfigError if the address is on another host and there is no TLS
 */
export function channelCredentials(
  certificates: Certificates | undefined,
  address: string,
  service: string | undefined,
): ChannelCredentials {
  if (certificates === undefined) {
    const setting = service === undefined ? "address" : `${service.toUpperCase()}_ADDRESS`;
    for (const host of hostsOf(address)) requireLoopback(setting, host);
    return ChannelCredentials.createInsecure();
  }
  const checkServerIdentity = serverCheck(certificates, service);
  return experimental.createCertificateProviderChannelCredentials(certificates, certificates, { checkServerIdentity });
}
