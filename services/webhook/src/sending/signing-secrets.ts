import { repeat, type Stoppable } from "@brand-records/lifecycle";
import type { Sql } from "@brand-records/postgres";
import type { Logger } from "@brand-records/telemetry";
import { SealBroken, type SecretKeys } from "../domain/secret-keys.ts";
import { signingKey, type SigningKey } from "../domain/signature.ts";
import type { ClaimedDelivery } from "../storage/claims.ts";
import type { LaneExclusions } from "../storage/lanes-to-serve.ts";
import { idsInUseAmong, storedSecretsOf, type StoredSecrets } from "../storage/secret-keys.ts";
import { openSigningSecret, type SealedSecret } from "../domain/signing-secret.ts";

const RECHECK_MS = 10_000;
/** Receivers whose secrets are damaged are rare: those beyond this are claimed and returned again and again. */
const RECEIVERS_MAX = 1_000;

/** The secrets that sign an attempt: the first signs X-Service-Signature, each of them webhook-signature. */
export type AttemptSecrets = readonly [SigningKey, ...SigningKey[]];

type SignedWith = StoredSecrets & Pick<ClaimedDelivery, "sign_with_next">;

export interface SigningSecretsOptions {
  readonly db: Sql;
  readonly keys: SecretKeys;
  readonly log: Logger;
  /** Milliseconds after which secrets that did not open are looked at again. Default: 10,000. */
  readonly recheckMs?: number | undefined;
}

/**
 * Opens the signing secrets of claimed deliveries, and remembers those that do not open in this process: their key is missing here, or
 * the stored bytes are damaged. Another process may have the key, so nothing is decided about their deliveries.
 */
export class SigningSecrets {
  readonly #options: SigningSecretsOptions;
  readonly #opened: SigningKeys;
  /** Keys that are missing here, and in use. */
  readonly #missingIds = new Set<number>();
  /** Receivers with a secret that does not open under a key that this process has, by that key's id. */
  readonly #damaged = new Map<string, number>();
  readonly #rechecking: Stoppable;

  constructor(options: SigningSecretsOptions) {
    this.#options = options;
    this.#opened = new SigningKeys(options.keys);
    this.#rechecking = repeat(() => this.#recheck(), options.recheckMs ?? RECHECK_MS);
  }

  /** Returns undefined if this process cannot open them. */
  open(delivery: SignedWith): AttemptSecrets | undefined {
    try {
      return openAll(this.#opened, delivery);
    } catch (error) {
      if (!(error instanceof SealBroken)) throw error;
      this.#remember(delivery.receiver_id, error);
      return undefined;
    }
  }

  /** What not to claim meanwhile; undefined if every secret opens. */
  get exclusions(): LaneExclusions | undefined {
    if (this.#missingIds.size === 0 && this.#damaged.size === 0) return undefined;
    return { secretKeyIds: [...this.#missingIds], receiverIds: [...this.#damaged.keys()] };
  }

  /** Whether secrets of this receiver, sealed under these keys, did not open here. */
  excludes(receiverId: string, keyIds: readonly (number | null)[]): boolean {
    return this.#damaged.has(receiverId) || keyIds.some((id) => id !== null && this.#missingIds.has(id));
  }

  /** Whether it remembers no more receivers, so that claims may return the same ones again. */
  get isFull(): boolean {
    return this.#damaged.size >= RECEIVERS_MAX;
  }

  /** Ids of the keys under which secrets are sealed that do not open here. */
  unusableIds(): number[] {
    return [...new Set([...this.#missingIds, ...this.#damaged.values()])].toSorted((a, b) => a - b);
  }

  async stop(): Promise<void> {
    await this.#rechecking.stop();
  }

  /** Logs the first one of each key only: there may be thousands. */
  #remember(receiver_id: string, error: SealBroken): void {
    const { keys, log } = this.#options;
    const { keyId } = error;
    if (!this.unusableIds().includes(keyId)) {
      log.error(
        { err: error, key_id: keyId, receiver_id },
        "signing secrets cannot be opened: their deliveries wait for a process that can",
      );
    }
    if (!keys.some(({ id }) => id === keyId)) this.#missingIds.add(keyId);
    else if (!this.isFull) this.#damaged.set(receiver_id, keyId);
  }

  /** Forgets what opens by now, was sealed again under a key that this process has, or was deleted. */
  async #recheck(): Promise<void> {
    const { log } = this.#options;
    const before = this.unusableIds();
    if (before.length === 0) return;
    try {
      await this.#forgetUsable();
    } catch (error) {
      log.warn({ err: error }, "signing secrets that did not open cannot be looked at again");
    }
    const after = this.unusableIds();
    for (const key_id of before) if (!after.includes(key_id)) log.info({ key_id }, "signing secrets can be opened again");
  }

  /** Reads all before it forgets any, so that nothing in between sees one half; what is remembered meanwhile stays. */
  async #forgetUsable(): Promise<void> {
    const { db } = this.#options;
    const [missingIds, damagedIds] = [[...this.#missingIds], [...this.#damaged.keys()]];
    const inUse = await idsInUseAmong(db, missingIds);
    const stored = new Map((await storedSecretsOf(db, damagedIds)).map((each) => [each.receiver_id, each]));
    for (const id of missingIds) if (!inUse.includes(id)) this.#missingIds.delete(id);
    for (const receiverId of damagedIds) {
      const secrets = stored.get(receiverId);
      if (secrets === undefined || opens(this.#opened, secrets)) this.#damaged.delete(receiverId);
    }
  }
}

/** @throws SealBroken */
function openAll(keys: SigningKeys, delivery: SignedWith): AttemptSecrets {
  const { receiver_id, secret, secret_key_id, next_secret, next_secret_key_id, sign_with_next } = delivery;
  const current = (): SigningKey => keys.open(receiver_id, { sealed: secret, keyId: secret_key_id });
  if (next_secret === null || next_secret_key_id === null) return [current()];
  const next = keys.open(receiver_id, { sealed: next_secret, keyId: next_secret_key_id });
  return sign_with_next ? [next] : [current(), next];
}

function opens(keys: SigningKeys, secrets: StoredSecrets): boolean {
  try {
    openAll(keys, { ...secrets, sign_with_next: false });
    return true;
  } catch (error) {
    if (error instanceof SealBroken) return false;
    throw error;
  }
}

/** About 1 KB each. */
const KEPT_MAX = 4_000;

/**
 * Opens sealed secrets into keys that sign, and keeps the keys: opening a secret takes 15 µs, finding it 0.3 µs.
 *
 * A kept key never stands for another secret. It is found by everything that decides what opens: the receiver, the id of the key and the
 * sealed bytes, which begin with a random nonce. A rotation or a re-encryption writes other bytes, which are opened; bytes moved to
 * another receiver's row do not open, as before. The keys under which secrets are sealed do not change while the process runs. What
 * fails to open is not kept. A deleted receiver's key is never asked for again, and the next 4,000 that are opened displace it.
 */
export class SigningKeys {
  readonly #keys: SecretKeys;
  /** The longest kept first. */
  readonly #kept = new Map<string, SigningKey>();

  constructor(keys: SecretKeys) {
    this.#keys = keys;
  }

  /** @throws SealBroken */
  open(receiverId: string, secret: SealedSecret): SigningKey {
    const name = `${receiverId} ${secret.keyId} ${secret.sealed.toString("latin1")}`;
    const kept = this.#kept.get(name);
    if (kept !== undefined) return kept;
    const opened = signingKey(openSigningSecret(this.#keys, receiverId, secret));
    if (this.#kept.size >= KEPT_MAX) this.#dropOldest();
    this.#kept.set(name, opened);
    return opened;
  }

  #dropOldest(): void {
    for (const oldest of this.#kept.keys()) {
      this.#kept.delete(oldest);
      return;
    }
  }
}
