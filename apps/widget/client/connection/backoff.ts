/** How long to wait between tries to connect. */
export interface Backoff {
  /** Milliseconds until the next try: anything from 0 to a bound that doubles with each try ("full jitter"). */
  nextMs: () => number;
  /** The line came up; when it goes down again at once, the bound is not at its least. */
  noteUp: () => void;
  /** The line has held: begin from the least bound again. */
  reset: () => void;
}

const LEAST_BOUND_MS = 500;
const MOST_BOUND_MS = 30_000;
const DOUBLINGS_AFTER_UP = 2;

/**
 * Exponential backoff with full jitter: after an outage of the server its visitors come back spread over time rather
 * than in waves. A server that takes lines and drops them at once is not tried twice a second either.
 */
export function createBackoff(random: () => number): Backoff {
  let tries = 0;
  return {
    nextMs: () => random() * Math.min(MOST_BOUND_MS, LEAST_BOUND_MS * 2 ** tries++),
    noteUp: () => {
      tries = Math.min(tries, DOUBLINGS_AFTER_UP);
    },
    reset: () => {
      tries = 0;
    },
  };
}
