import { ServiceError } from "@svc/contracts";

/** Lets in as many bodies as memory is meant for. */
export interface UploadGate {
  /** Runs `work` with room for so many bytes. Throws rate_limited when there is none right now. */
  admit<Result>(sizeBytes: number, work: () => Promise<Result>): Promise<Result>;
}

/**
 * Makes a gate for large bodies: together those of one process have at most `maxBytes`, as announced. One alone is
 * always let in.
 */
export function createUploadGate(maxBytes: number): UploadGate {
  let usedBytes = 0;
  return {
    async admit(sizeBytes, work) {
      if (usedBytes > 0 && usedBytes + sizeBytes > maxBytes) {
        throw new ServiceError("rate_limited", "Too much is uploaded at once; send fewer files at a time.", {
          headers: { "Retry-After": "2" },
        });
      }
      usedBytes += sizeBytes;
      try {
        return await work();
      } finally {
        usedBytes -= sizeBytes;
      }
    },
  };
}
