import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { SESSION_LIMITS, ServiceError } from "@svc/contracts";
import { clientAddress } from "@svc/http";
import type { Counters } from "@svc/queue";
import { emailKeyOf } from "@svc/store";
import type { Request } from "express";

/** A request for a place in the queue. */
export interface QueueEntry {
  /** Whose place it is, as an address. One source cannot hold all places. */
  source: string;
  /** Entries with a lower rank run first, and of one rank the newest: a flood delays itself and not who comes after it. */
  rank: number;
}

/** Runs what waits one at a time, in the order of rank. */
interface FairQueue {
  /**
   * Waits for this entry's turn, and resolves with a function that ends it. Resolves with null where the entry gets no
   * place: its source holds its share, or the queue is full of entries with a lower rank. It can also lose its place later,
   * to an entry that runs before it.
   */
  enter(entry: QueueEntry): Promise<(() => void) | null>;
  /** True when nothing runs or waits. */
  isIdle(): boolean;
}

interface WaitingEntry extends QueueEntry {
  resolve: (end: (() => void) | null) => void;
}

/** Makes a queue with this many waiting places in all, and for one source. */
function createFairQueue({ slots, perSource }: { slots: number; perSource: number }): FairQueue {
  let isRunning = false;
  const waiting: WaitingEntry[] = [];

  function runNext(): void {
    const next = waiting.shift();
    isRunning = next !== undefined;
    next?.resolve(endOnce());
  }

  function endOnce(): () => void {
    let hasEnded = false;
    return () => {
      if (hasEnded) return;
      hasEnded = true;
      runNext();
    };
  }

  /** Inserts before the entries of the same rank; the last entry of a queue that is too long loses its place. */
  function insert(entry: WaitingEntry): void {
    const at = waiting.findIndex(({ rank }) => rank >= entry.rank);
    waiting.splice(at === -1 ? waiting.length : at, 0, entry);
    if (waiting.length > slots) waiting.pop()?.resolve(null);
  }

  return {
    enter(entry) {
      if (!isRunning) {
        isRunning = true;
        return Promise.resolve(endOnce());
      }
      if (waiting.filter(({ source }) => source === entry.source).length >= perSource) return Promise.resolve(null);
      return new Promise((resolve) => insert({ ...entry, resolve }));
    },
    isIdle: () => !isRunning,
  };
}

/** Limits how often people may try to sign in. */
export interface SignInLimit {
  /**
   * Admits an attempt with a password: counts it, on all replicas together, and waits until this process checks its
   * password. `deviceId` names a browser on which the account has signed in before, or a live session of it: such an
   * attempt is counted by itself and waits for nobody else's. Throws rate_limited. Call the returned function when the
   * password is checked.
   */
  beginPassword(request: Request, email: string, deviceId: string | null): Promise<() => void>;
  /** Counts a use of a link or a start of single sign-on, by address. No password is guessed by it. Throws rate_limited. */
  count(request: Request, what: "link" | "oidc"): Promise<void>;
}

/** Attempts that wait for their password check in this process, in all and from one address. A check takes 0.1 to 0.3 s. */
const CHECK_SLOTS = { slots: 20, perSource: 4 };
/** Attempts that wait for their turn at one account in this process. */
const ACCOUNT_SLOTS = { slots: 20, perSource: 1 };
/** Rank of an attempt from a known device: before all others. */
const KNOWN_RANK = -1;
/** An attempt that has waited longer than this for its turn at an account is rejected, in milliseconds. */
const PATIENCE_MS = 30_000;

const MINUTE = 60;
const { triesPerAddress, triesPerEmail, triesWindowSeconds } = SESSION_LIMITS;
const BY_ADDRESS = { limit: triesPerAddress, windowSeconds: MINUTE };
/** Of one account from one address, and of one known device. */
const BY_ACCOUNT = { limit: triesPerEmail, windowSeconds: triesWindowSeconds };
/** Of one account from all addresses: never reached, since attempts are slowed down long before. */
const FROM_ANYWHERE = { limit: 1_000_000, windowSeconds: triesWindowSeconds };

/**
 * Seconds between two password checks of one account, on all replicas together, by its attempts in the current window
 * from all addresses. At most 10 + 10 + 300 / 5 = 80 checks in 5 minutes, which is below 1,000 an hour.
 */
const intervalOf = (attempts: number): number =>
  attempts <= triesPerEmail ? 0 : attempts <= 2 * triesPerEmail ? 1 : 5;

function tooMany(detail: string, resetMs: number): ServiceError {
  const seconds = String(Math.max(1, Math.ceil(resetMs / 1_000)));
  return new ServiceError("rate_limited", `${detail} Try again in ${seconds} s.`, {
    headers: { "Retry-After": seconds },
  });
}

/** The name of an account in counters and cookies, which hold no personal data: a hash of its e-mail address. */
export const accountOf = (email: string): string =>
  createHash("sha256").update(emailKeyOf(email)).digest("hex").slice(0, 32);

/** Makes the limits of signing in. Nothing here depends on whether an account exists. */
// oxlint-disable-next-line max-lines-per-function -- short functions over one shared state
export function createSignInLimit(counters: Counters): SignInLimit {
  const checks = createFairQueue(CHECK_SLOTS);
  /** Accounts whose attempts are slowed down, while some wait. */
  const slowed = new Map<string, FairQueue>();

  /** Counts an attempt of an address. Returns how many it has made in this minute. */
  async function countAddress(request: Request, name: string): Promise<number> {
    const counted = await counters.count(`${name}:${clientAddress(request)}`, BY_ADDRESS);
    if (counted.isOver) throw tooMany("Too many sign-in attempts from this IP address.", counted.resetMs);
    return triesPerAddress - counted.remaining;
  }

  /** Waits until this account may be tried again, by an interval that all replicas keep together. */
  async function waitForTurn(account: string, seconds: number): Promise<boolean> {
    const deadline = performance.now() + PATIENCE_MS;
    const turn = { limit: 1, windowSeconds: seconds };
    for (;;) {
      const { isOver, resetMs } = await counters.count(`sign-in-turn-${seconds}:${account}`, turn);
      if (!isOver) return true;
      if (performance.now() + resetMs > deadline) return false;
      await delay(resetMs + 1, undefined, { ref: false });
    }
  }

  async function slowDown(account: string, seconds: number, entry: { source: string; rank: number }): Promise<void> {
    const queue = slowed.get(account) ?? createFairQueue(ACCOUNT_SLOTS);
    slowed.set(account, queue);
    const end = await queue.enter(entry);
    try {
      if (end !== null && (await waitForTurn(account, seconds))) return;
    } finally {
      end?.();
      if (queue.isIdle()) slowed.delete(account);
    }
    throw tooMany("Too many sign-in attempts with this email address.", seconds * 1_000);
  }

  async function isKnownDevice(deviceId: string | null): Promise<boolean> {
    if (deviceId === null) return false;
    return !(await counters.count(`sign-in-device:${deviceId}`, BY_ACCOUNT)).isOver;
  }

  /** Counts an attempt from a device that is not known, and slows it down. Returns its entry in the queue of checks. */
  async function admitStranger(request: Request, account: string) {
    const source = clientAddress(request);
    const rank = await countAddress(request, "sign-in");
    const [ofPair, ofAccount] = await Promise.all([
      counters.count(`sign-in-pair:${account}:${source}`, BY_ACCOUNT),
      counters.count(`sign-in-account:${account}`, FROM_ANYWHERE),
    ]);
    if (ofPair.isOver) {
      throw tooMany("Too many sign-in attempts with this email address from this IP address.", ofPair.resetMs);
    }
    const seconds = intervalOf(FROM_ANYWHERE.limit - ofAccount.remaining);
    if (seconds > 0) await slowDown(account, seconds, { source, rank });
    return { source, rank };
  }

  return {
    async beginPassword(request, email, deviceId) {
      const account = accountOf(email);
      const entry = (await isKnownDevice(deviceId))
        ? { source: `device:${String(deviceId)}`, rank: KNOWN_RANK }
        : await admitStranger(request, account);
      const end = await checks.enter(entry);
      if (end === null) throw tooMany("Too many sign-ins at the moment.", 3_000);
      return end;
    },
    async count(request, what) {
      await countAddress(request, `sign-in-${what}`);
    },
  };
}
