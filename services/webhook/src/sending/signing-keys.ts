import type { SecretKeys } from "../domain/secret-keys.ts";
import { signingKey, type SigningKey } from "../domain/signature.ts";
import { openSigningSecret, type SealedSecret } from "../domain/signing-secret.ts";

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
