import { ServiceError } from "@svc/contracts";
import type { BodyMeter } from "@svc/http";

/** Lets in as many bodies as memory is meant for. */
export interface UploadGate {
  /**
   * Runs `work`, which reads a body that this caller sends and tells the meter of every piece of it. What came is held
   * against the gate until `work` has ended. The meter throws rate_limited when there is no room for a piece.
   */
  admit<Result>(caller: string, work: (meter: BodyMeter) => Promise<Result>): Promise<Result>;
}

/** What a gate lets in, in bytes that have come. */
export interface UploadRoom {
  /** Of all bodies together. */
  maxBytes: number;
  /** Of those of one caller together, so that nobody takes the room of everybody. */
  callerMaxBytes: number;
  /** A body counts from here on: a smaller one always gets in, as every other request does. */
  freeBytes: number;
}

const noRoom = (detail: string) => new ServiceError("rate_limited", detail, { headers: { "Retry-After": "2" } });

/**
 * Makes a gate for large bodies. It counts what has come and not what was announced: a connection that announces much
 * and sends nothing costs nothing, and so takes no room from others.
 */
export function createUploadGate({ maxBytes, callerMaxBytes, freeBytes }: UploadRoom): UploadGate {
  const usedBytesOf = new Map<string, number>();
  let usedBytes = 0;

  function use(caller: string, sizeBytes: number): void {
    const ofCaller = (usedBytesOf.get(caller) ?? 0) + sizeBytes;
    usedBytes += sizeBytes;
    if (ofCaller > 0) usedBytesOf.set(caller, ofCaller);
    else usedBytesOf.delete(caller);
  }

  return {
    async admit(caller, work) {
      let receivedBytes = 0;
      let countedBytes = 0;
      const meter: BodyMeter = (sizeBytes) => {
        receivedBytes += sizeBytes;
        if (receivedBytes <= freeBytes) return;
        const moreBytes = receivedBytes - countedBytes;
        if ((usedBytesOf.get(caller) ?? 0) + moreBytes > callerMaxBytes) {
          throw noRoom("Too many concurrent uploads with this key. Upload one file at a time.");
        }
        if (usedBytes + moreBytes > maxBytes) throw noRoom("Too many concurrent uploads. Retry later.");
        use(caller, moreBytes);
        countedBytes = receivedBytes;
      };
      try {
        return await work(meter);
      } finally {
        use(caller, -countedBytes);
      }
    },
  };
}
