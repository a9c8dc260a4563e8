import { setLogger } from "@grpc/grpc-js";

/** Keeps metadata out of what grpc-js writes to standard error: it quotes a value that it leaves out as no printable ASCII, such as a grant. */
export function keepMetadataOutOfLog(): void {
  setLogger({
    error: (...texts: unknown[]) => {
      if (!String(texts[0]).startsWith("Failed to add metadata entry")) console.error("grpc:", ...texts);
    },
  });
}
