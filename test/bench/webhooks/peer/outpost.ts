import { randomBytes } from "node:crypto";
import { Agent } from "undici";
import { BODY_BYTES, PEER_CONNECTIONS } from "../settings.ts";

const TOPIC = "submission.approved";
/** Pads an event of about 330 bytes to the measured size. */
const PADDING = "x".repeat(BODY_BYTES - 330);

/** Where an Outpost is, with its version: `http://127.0.0.1:3333/api/v1`. */
export interface PeerAddress {
  readonly url: string;
  readonly apiKey: string;
}

/** A running Outpost (https://github.com/hookdeck/outpost) with a tenant and a webhook destination for each receiver. */
export class Outpost {
  readonly #address: PeerAddress;
  readonly #agent = new Agent({ connections: PEER_CONNECTIONS });
  /** Tenants of this run: those of an earlier one have destinations that no longer exist. */
  readonly #run = randomBytes(4).toString("hex");
  readonly #tenants: string[] = [];

  constructor(address: PeerAddress) {
    this.#address = { ...address, url: address.url.replace(/\/$/, "") };
  }

  /** Creates a tenant with one destination for each port. */
  async register(ports: readonly number[]): Promise<void> {
    for (const [receiver, port] of ports.entries()) {
      const tenant = `bench_${this.#run}_${receiver}`;
      await this.#call("PUT", `/tenants/${tenant}`);
      this.#tenants.push(tenant);
      const destination = { type: "webhook", topics: [TOPIC], config: { url: `http://127.0.0.1:${port}/` } };
      await this.#call("POST", `/tenants/${tenant}/destinations`, destination);
    }
  }

  /**
   * Publishes an event for a receiver. Resolves once Outpost has accepted it.
   *
   * @throws if it matches no destination
   */
  async publish(receiver: number, number: number): Promise<void> {
    const id = `evt_${this.#run}_${number}`;
    const created_at = new Date().toISOString();
    const data = { id, type: TOPIC, created_at, brand_id: this.#tenants[receiver], data: recordOf(number) };
    const event = { id, tenant_id: this.#tenants[receiver], topic: TOPIC, eligible_for_retry: true, time: created_at, data };
    const { destination_ids: destinations } = (await this.#call("POST", "/publish", event)) as { destination_ids?: string[] };
    if (destinations?.length === 0) throw new Error(`the peer has no destination for ${TOPIC}: its TOPICS must contain it`);
  }

  /** Deletes the run's tenants. */
  async stop(): Promise<void> {
    try {
      for (const tenant of this.#tenants) await this.#call("DELETE", `/tenants/${tenant}`);
    } finally {
      await this.#agent.close();
    }
  }

  async #call(method: "PUT" | "POST" | "DELETE", path: string, body: object = {}): Promise<unknown> {
    const { origin, pathname } = new URL(this.#address.url + path);
    const response = await this.#agent.request({
      origin,
      path: pathname,
      method,
      headers: { authorization: `Bearer ${this.#address.apiKey}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const text = await response.body.text();
    if (response.statusCode >= 300) throw new Error(`${method} ${path}: the peer returned ${response.statusCode}: ${text.slice(0, 200)}`);
    return text === "" ? {} : JSON.parse(text);
  }
}

const recordOf = (number: number) => ({
  resource: "submissions",
  id: `sub_${number}`,
  campaign_id: "cmp_1",
  status: "approved",
  previous_status: "pending",
  earned_centavos: 12_000,
  currency: "PHP",
  padding: PADDING,
});
