import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { SESSION_LIMITS, ServiceError } from "@svc/contracts";
import { clientAddress } from "@svc/http";
import type { Counters } from "@svc/queue";
import { emailKeyOf } from "@svc/store";
import type { Request } from "express";

/** A request for a slot in the queue. */
export interface QueueEntry {
  /** The source, such as a client address. One source cannot use all slots. */
  source: string;
  /** Entries with a lower rank run first, and within a rank the newest: a flood delays itself and not later entries. */
  rank: number;
}

/** Runs entries one at a time, in the order of rank. */
interface FairQueue {
  /**
   * Waits for this entry's turn, and resolves with a function that ends it. Resolves with null if the entry gets no
   * slot: its source has reached its share, or the queue is full of entries with a lower rank. It can also lose its
   * slot later, to an entry that runs before it.
   */
  enter(entry: QueueEntry): Promise<(() => void) | null>;
  /** Returns true if nothing runs or waits. */
  isIdle(): boolean;
}

interface WaitingEntry extends QueueEntry {
  resolve: (end: (() => void) | null) => void;
}

/** Creates a queue with a maximum number of waiting entries, in total and per source. */
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

  /** Inserts before the entries of the same rank; if the queue is too long, its last entry loses its slot. */
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

/** Limits sign-in attempts. */
export interface SignInLimit {
  /**
   * Admits a password attempt: counts it, on all replicas together, and waits until this process may check its
   * password. `deviceId` identifies a browser in which the account has signed in before, or a live session of it: such
   * an attempt is counted separately and does not wait for others. Throws rate_limited. The returned function must be
   * called after the password check.
   */
  beginPassword(request: Request, email: string, deviceId: string | null): Promise<() => void>;
  /**
   * Counts a use of a link or a start of single sign-on, by address. These cannot be used to guess passwords. Throws
   * rate_limited.
   */
  count(request: Request, what: "link" | "oidc"): Promise<void>;
}

/**
 * Maximum attempts that wait for their password check in this process, in total and per address. A check takes 0.1 to
 * 0.3 s.
 */
const CHECK_SLOTS = { slots: 20, perSource: 4 };
/** Maximum attempts that wait for their turn at one account in this process. */
const ACCOUNT_SLOTS = { slots: 20, perSource: 1 };
/** Rank of an attempt from a known device: before all others. */
const KNOWN_RANK = -1;
/** Maximum time that an attempt waits for its turn at an account, in milliseconds; then it is rejected. */
const MAX_WAIT_MS = 30_000;

const MINUTE = 60;
const { triesPerAddress, triesPerEmail, triesWindowSeconds } = SESSION_LIMITS;
const BY_ADDRESS = { limit: triesPerAddress, windowSeconds: MINUTE };
/** For one account from one address, and for one known device. */
const BY_ACCOUNT = { limit: triesPerEmail, windowSeconds: triesWindowSeconds };
/** For one account from all addresses: never reached, because attempts are slowed down much earlier. */
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

/**
 * Returns the name of an account in counters and cookies, which contain no personal data: a hash of its email address.
 */
export const accountOf = (email: string): string =>
  createHash("sha256").update(emailKeyOf(email)).digest("hex").slice(0, 32);

/** Creates the sign-in limits. They do not depend on whether an account exists. */
// oxlint-disable-next-line max-lines-per-function -- short functions over one shared state
export function createSignInLimit(counters: Counters): SignInLimit {
  const checks = createFairQueue(CHECK_SLOTS);
  /** Accounts with delayed attempts, while some wait. */
  const slowed = new Map<string, FairQueue>();

  /** Counts an attempt of an address. Returns the number of its attempts in this minute. */
  async function countAddress(request: Request, name: string): Promise<number> {
    const counted = await counters.count(`${name}:${clientAddress(request)}`, BY_ADDRESS);
    if (counted.isOver) throw tooMany("Too many sign-in attempts from this IP address.", counted.resetMs);
    return triesPerAddress - counted.remaining;
  }

  /** Waits until this account may be attempted again, by an interval that all replicas share. */
  async function waitForTurn(account: string, seconds: number): Promise<boolean> {
    const deadline = performance.now() + MAX_WAIT_MS;
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

  /** Counts an attempt from an unknown device, and delays it. Returns its entry in the queue of checks. */
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
