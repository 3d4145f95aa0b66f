import { setTimeout as sleep } from "node:timers/promises";

/** Lets requests to one host begin no closer together than an interval. */
export interface HostPace {
  /** Resolves when it is this request's turn. Rejects with the reason of the signal. */
  takeTurn(host: string, signal: AbortSignal): Promise<void>;
}

/** As many hosts are remembered before those whose interval is over are forgotten. */
const MAX_HOSTS = 1_000;

/** Makes a pace; each caller waits for its own turn, hosts do not wait for each other. */
export function createHostPace(intervalMs: number): HostPace {
  const nextTurns = new Map<string, number>();

  function forgetIdle(now: number): void {
    for (const [host, at] of nextTurns) if (at <= now) nextTurns.delete(host);
  }

  return {
    async takeTurn(host, signal) {
      signal.throwIfAborted();
      const now = performance.now();
      if (nextTurns.size >= MAX_HOSTS) forgetIdle(now);
      const at = Math.max(now, nextTurns.get(host) ?? 0);
      nextTurns.set(host, at + intervalMs);
      if (at <= now) return;
      try {
        await sleep(at - now, undefined, { signal });
      } catch (error) {
        throw signal.aborted ? signal.reason : error;
      }
    },
  };
}
