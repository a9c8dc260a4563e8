import { BlockList, isIPv6 } from "node:net";
import type { KubernetesObject } from "./rendered-chart.ts";

/** A pod, or an address outside the cluster. */
export interface Endpoint {
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly address?: string;
}

export interface Connection {
  readonly from: Endpoint;
  readonly to: Endpoint;
  readonly port: number;
  readonly protocol?: "TCP" | "UDP";
}

interface Selector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly { readonly key: string; readonly operator: string; readonly values?: readonly string[] }[];
}

interface Peer {
  readonly podSelector?: Selector;
  readonly namespaceSelector?: Selector;
  readonly ipBlock?: { readonly cidr: string; readonly except?: readonly string[] };
}

interface Rule {
  readonly ports?: readonly { readonly port: number; readonly protocol?: string }[];
  readonly from?: readonly Peer[];
  readonly to?: readonly Peer[];
}

/** Whether NetworkPolicies allow a connection, as a network plugin decides: by the egress of its source and the ingress of its target. */
export function isAllowed(objects: readonly KubernetesObject[], connection: Connection): boolean {
  const policies = objects.filter(({ kind }) => kind === "NetworkPolicy");
  return allows(policies, "Egress", connection) && allows(policies, "Ingress", connection);
}

function allows(policies: readonly KubernetesObject[], direction: "Ingress" | "Egress", connection: Connection): boolean {
  const { from, to, port, protocol = "TCP" } = connection;
  const [subject, other] = direction === "Egress" ? [from, to] : [to, from];
  const applying = policies.filter(
    (policy) =>
      subject.labels !== undefined &&
      policy.metadata.namespace === subject.namespace &&
      policy["spec"].policyTypes.includes(direction) &&
      matches(policy["spec"].podSelector, subject.labels),
  );
  // A pod that no policy selects is open.
  if (applying.length === 0) return true;
  return applying.some((policy) =>
    rulesOf(policy, direction).some((rule) => {
      const isPort = rule.ports === undefined || rule.ports.some((it) => it.port === port && (it.protocol ?? "TCP") === protocol);
      const peers = direction === "Egress" ? rule.to : rule.from;
      return isPort && (peers === undefined || peers.some((peer) => isPeer(peer, other, policy.metadata.namespace)));
    }),
  );
}

const rulesOf = ({ spec }: KubernetesObject, direction: "Ingress" | "Egress"): readonly Rule[] =>
  ((direction === "Egress" ? spec.egress : spec.ingress) ?? []) as Rule[];

function isPeer({ podSelector, namespaceSelector, ipBlock }: Peer, endpoint: Endpoint, namespace: string | undefined): boolean {
  if (ipBlock !== undefined) {
    const { address } = endpoint;
    return address !== undefined && isIn(address, ipBlock.cidr) && !(ipBlock.except ?? []).some((range) => isIn(address, range));
  }
  if (endpoint.labels === undefined) return false;
  const isNamespace =
    namespaceSelector === undefined
      ? endpoint.namespace === namespace
      : matches(namespaceSelector, { "kubernetes.io/metadata.name": endpoint.namespace ?? "" });
  return isNamespace && (podSelector === undefined || matches(podSelector, endpoint.labels));
}

function matches({ matchLabels = {}, matchExpressions = [] }: Selector, labels: Readonly<Record<string, string>>): boolean {
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, operator, values = [] }) => {
      if (operator !== "In") throw new Error(`matchExpressions: ${operator} is not evaluated here`);
      return values.includes(labels[key] ?? "");
    })
  );
}

function isIn(address: string, cidr: string): boolean {
  const [network = "", bits] = cidr.split("/");
  if (isIPv6(address) !== isIPv6(network)) return false;
  const family = isIPv6(address) ? "ipv6" : "ipv4";
  const list = new BlockList();
  list.addSubnet(network, Number(bits), family);
  return list.check(address, family);
}
