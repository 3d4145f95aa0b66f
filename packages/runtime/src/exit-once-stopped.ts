import type { Running } from "./run-services.ts";

/** What a library leaves behind after its close gets this long to end by itself. */
const LINGER_MS = 500;

/**
 * Ends a process that has nothing left to do. BullMQ keeps a timer of 30 s after a lost connection that its close does
 * not end, and such a process must not outlive its supervisor's patience.
 */
export function exitSoon(): void {
  setTimeout(() => process.exit(), LINGER_MS).unref();
}

/** Ends the process once everything has stopped. */
export async function exitOnceStopped({ stopped }: Pick<Running, "stopped">): Promise<void> {
  await stopped;
  exitSoon();
}
