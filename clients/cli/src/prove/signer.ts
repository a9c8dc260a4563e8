import { createHmac, randomBytes } from "node:crypto";
import { headerNames, signDelivery, type SignOptions } from "@brand-records/client/signing";
import type { Delivery } from "../deliveries/post-delivery.ts";
import { sampleEvent, type EventType, type SampleEvent, type SampleOptions } from "../deliveries/sample-event.ts";

export interface SignerOptions extends SampleOptions {
  readonly secret: string;
  /** Undefined unless a rotation is to be proved. */
  readonly nextSecret: string | undefined;
  readonly type: EventType;
  readonly headerWord: string;
}

/** Makes deliveries, right and wrong, for one receiver. Both of the service's signatures are on each: a receiver may check either. */
export class Signer {
  readonly options: SignerOptions;

  constructor(options: SignerOptions) {
    this.options = options;
  }

  /** An event that no request has carried yet. */
  event(type: EventType = this.options.type): SampleEvent {
    return sampleEvent(type, this.options);
  }

  /** Signs an event as the service does. @param secrets Default: the receiver's */
  async sign(event: SampleEvent, options: SignOptions = {}, secrets: readonly string[] = [this.options.secret]): Promise<Delivery> {
    const { id, type, body } = event;
    const headers = await signDelivery(body, secrets, { id, type, headerWord: this.options.headerWord, ...options });
    return { headers, body };
  }

  /** Signs an event with a key that a receiver without a secret has: none. */
  async signWithoutSecret(event: SampleEvent): Promise<Delivery> {
    const { headers, body } = await this.sign(event);
    const { timestamp } = this.names;
    const own = createHmac("sha256", "").update(`${headers[timestamp]}.`).update(body).digest("hex");
    const standard = createHmac("sha256", "").update(`${event.id}.${headers[timestamp]}.`).update(body).digest("base64");
    return this.withSignatures({ headers, body }, `sha256=${own}`, `v1,${standard}`);
  }

  /** Replaces both signatures. */
  withSignatures({ headers, body }: Delivery, own: string, standard: string): Delivery {
    const { signature, standardSignature } = this.names;
    return { headers: { ...headers, [signature]: own, [standardSignature]: standard }, body };
  }

  /** Changes the bytes of both signatures, and what stands before them. */
  withDigests(delivery: Delivery, change: (digest: Buffer) => Buffer, [own, standard] = ["sha256=", "v1,"]): Delivery {
    const { signature, standardSignature } = this.names;
    const digest = (name: string, encoding: "hex" | "base64"): string => {
      const [, encoded = ""] = /^(?:sha256=|v1,)(.*)$/.exec(delivery.headers[name] ?? "") ?? [];
      return change(Buffer.from(encoded, encoding)).toString(encoding);
    };
    return this.withSignatures(delivery, own + digest(signature, "hex"), standard + digest(standardSignature, "base64"));
  }

  /** Removes headers. */
  without({ headers, body }: Delivery, ...names: readonly string[]): Delivery {
    return { headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !names.includes(name))), body };
  }

  get names(): ReturnType<typeof headerNames> {
    return headerNames(this.options.headerWord);
  }
}

/** A secret that no receiver has. */
export const otherSecret = (): string => `whsec_${randomBytes(32).toString("base64")}`;

export const nowSeconds = (): number => Math.floor(Date.now() / 1_000);
