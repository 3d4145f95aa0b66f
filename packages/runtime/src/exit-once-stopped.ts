import type { Running } from "./run-services.ts";

/** What a library leaves behind after its close gets this long to end by itself. */
const LINGER_MS = 500;

/**
 * Ends the process once everything has stopped. BullMQ keeps a timer of 30 s after a lost connection that its close does
 * not end, and a process that has nothing left to do must not outlive its supervisor's patience.
 */
export async function exitOnceStopped({ stopped }: Pick<Running, "stopped">): Promise<void> {
  await stopped;
  setTimeout(() => process.exit(), LINGER_MS).unref();
}
