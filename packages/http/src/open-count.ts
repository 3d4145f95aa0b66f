import { ServiceError } from "@svc/contracts";
import type { Request, Response } from "express";
import { principalOf } from "./authenticated.ts";
import { clientAddress } from "./client-address.ts";

/** When a caller with too many open calls may try again, in seconds. */
const RETRY_SECONDS = 5;

/** Counts what is open in this process, by name. */
export interface OpenCount {
  /**
   * Opens one more under this name. Returns the function that closes it, which is safe to call twice; null where `limit`
   * are open already.
   */
  open(name: string, limit: number): (() => void) | null;
}

/** Makes a count of what is open, as long polls by key and address. */
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

/** Counts a call that may stay open for long, by key and address, until its connection is done with it. Throws rate_limited. */
export type OpenLimit = (request: Request, response: Response) => void;

/** Creates the limit of open calls of one kind, which a key has in this process from each address. */
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
