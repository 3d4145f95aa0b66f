import { ServiceError } from "@svc/contracts";
import type { Request, Response } from "express";
import { principalOf } from "./authenticated.ts";
import { clientAddress } from "./client-address.ts";

/** Seconds after which a caller with too many open calls may retry. */
const RETRY_SECONDS = 5;

/** Counts open calls in this process, by name. */
export interface OpenCount {
  /**
   * Counts another open call under this name. Returns the function that closes it, which is safe to call twice; null if
   * `limit` are open already.
   */
  open(name: string, limit: number): (() => void) | null;
}

/** Creates a counter of open calls, such as long polls by key and address. */
export function createOpenCount(): OpenCount {
  const counts = new Map<string, number>();
  return {
    open(name, limit) {
      const count = counts.get(name) ?? 0;
      if (count >= limit) return null;
      counts.set(name, count + 1);
      let isOpen = true;
      return () => {
        if (!isOpen) return;
        isOpen = false;
        const left = (counts.get(name) ?? 1) - 1;
        if (left > 0) counts.set(name, left);
        else counts.delete(name);
      };
    },
  };
}

/** Counts a long call by key and address, until its connection is closed. Throws rate_limited. */
export type OpenLimit = (request: Request, response: Response) => void;

/** Creates the limit of open calls of one kind, per key and address in this process. */
export function createOpenLimit(limit: number, kind: string): OpenLimit {
  const count = createOpenCount();
  return (request, response) => {
    const { keyId, actor } = principalOf(response);
    const close = count.open(`${keyId ?? actor}:${clientAddress(request)}`, limit);
    if (close === null) {
      throw new ServiceError(
        "rate_limited",
        `This key already has ${limit} open ${kind} from one address, which is the maximum. Wait until one of them ends.`,
        { headers: { "Retry-After": String(RETRY_SECONDS) } },
      );
    }
    response.once("close", close);
  };
}
