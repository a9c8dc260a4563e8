import { checkServerIdentity as checkName, type PeerCertificate } from "node:tls";
import type { ServerUnaryCall } from "@grpc/grpc-js";

/** `spiffe://DOMAIN/ns/NAMESPACE/sa/` and the service that follows it. */
export interface OwnIdentity {
  readonly prefix: string;
  readonly service: string;
}

/** The SPIFFE id among a certificate's names, such as `DNS:records, URI:spiffe://…`; undefined without one, or with several. */
export function spiffeIdOf(names: string | undefined): string | undefined {
  const ids = namesIn(names ?? "").filter((name) => name.startsWith("URI:"));
  const [id] = ids;
  return ids.length === 1 && id?.startsWith("URI:spiffe://") ? id.slice("URI:".length) : undefined;
}

/** Splits the names. Node quotes a name that holds a separator, so that it cannot pretend to be several. None if the text is malformed. */
function namesIn(text: string): string[] {
  const isList = /^(?:[\w ]+:(?:"(?:[^"\\]|\\.)*"|[^",]*)(?:, |$))*$/.test(text);
  return isList ? [...text.matchAll(/[\w ]+:(?:"(?:[^"\\]|\\.)*"|[^",]*)/g)].map(([name]) => name.trim()) : [];
}

/** The last segment of `spiffe://DOMAIN/ns/NAMESPACE/sa/SERVICE`; undefined if the id does not have this form. */
export const serviceOf = (id: string | undefined): string | undefined =>
  /^spiffe:\/\/[a-z0-9._-]+\/ns\/[A-Za-z0-9._-]+\/sa\/([A-Za-z0-9._-]+)$/.exec(id ?? "")?.[1];

/** Who a call comes from: a service of the same trust domain and namespace, or anyone else, described for the log. */
export type Peer = { readonly caller: string } | { readonly stranger: string };

/** Compares a peer's certificate with the id of this process. */
export function peerOf(names: string | undefined, own: OwnIdentity): Peer {
  const id = spiffeIdOf(names);
  if (id === undefined) return { stranger: `a certificate without a SPIFFE id (${names ?? "no names"})` };
  const service = serviceOf(id);
  return service !== undefined && id === own.prefix + service ? { caller: service } : { stranger: id };
}

/** The peer of each connection: reading its certificate takes longer than many a call. */
const peers = new WeakMap<object, { readonly names: string | undefined; readonly own: OwnIdentity; readonly peer: Peer }>();

/** Returns the peer of a call over TLS. */
export function peerOfCall(call: Pick<ServerUnaryCall<unknown, unknown>, "getAuthContext">, own: OwnIdentity): Peer {
  const session = sessionOf(call);
  const known = session === undefined ? undefined : peers.get(session);
  if (known !== undefined && known.own === own) return known.peer;
  const names = known === undefined ? call.getAuthContext().sslPeerCertificate?.subjectaltname : known.names;
  const peer = peerOf(names, own);
  if (session !== undefined) peers.set(session, { names, own, peer });
  return peer;
}

/** The HTTP/2 session of a call, which grpc-js does not show. Undefined if a later release keeps it elsewhere: a test says so. */
export const sessionOf = (call: object): object | undefined =>
  (call as { readonly call?: { readonly stream?: { readonly session?: object } } }).call?.stream?.session;

/**
 * Returns what a client checks of a server's certificate: its name, and by its SPIFFE id that it is the expected service of the same trust
 * domain and namespace.
 */
export function serverCheck({ own }: { readonly own: OwnIdentity }, service: string | undefined) {
  return (host: string, certificate: PeerCertificate): Error | undefined => {
    const names = certificate.subjectaltname;
    if (checkName(host, certificate) !== undefined) {
      return new Error(`the certificate of the server is for ${names ?? "no name"}, not for ${host}`);
    }
    const id = spiffeIdOf(names);
    if (id === undefined) return new Error(`the certificate of the server (${names ?? "no names"}) has no SPIFFE id`);
    const expected = own.prefix + (service ?? serviceOf(id) ?? "");
    return id === expected ? undefined : new Error(`the certificate of the server is of ${id}, not of ${expected}`);
  };
}
