import { AsyncLocalStorage } from "node:async_hooks";

/** A resource of a test file, and how to release it if the file does not. */
interface HeldResource {
  /**
   * Name of a resource that the file must release itself; null for one that is kept until the file ends, which is no
   * leak.
   */
  what: string | null;
  end: () => Promise<unknown>;
}

/** The list is on the global object: the jest environment and the test file load this module from different builds. */
const HELD = Symbol.for("@svc/testing held resources");

/** Set while something is opened that belongs to the whole run. */
const opensForRun = new AsyncLocalStorage<true>();

const heldResources = () => ((globalThis as { [HELD]?: Set<HeldResource> })[HELD] ??= new Set());

/**
 * Opens what all files of a run share: it may outlive the test file that asked for it, also if jest runs its files in
 * its own process. The caller closes it.
 */
export const openForRun = <Opened>(open: () => Promise<Opened>): Promise<Opened> => opensForRun.run(true, open);

/**
 * Registers a resource that must not outlive the test file, and how to release it. Returns a function that unregisters
 * it.
 */
export function holdResource(what: string | null, end: () => Promise<unknown>): () => void {
  if (opensForRun.getStore() === true) return () => undefined;
  const held = heldResources();
  const resource = { what, end };
  held.add(resource);
  return () => void held.delete(resource);
}

/**
 * Releases the resources that are still held and returns their names: an empty list if nothing leaked. Never
 * rejects: a resource that cannot be released is listed with the reason. Call it when a test file ends.
 */
export async function endHeldResources(): Promise<string[]> {
  const held = heldResources();
  const leaked = [...held];
  held.clear();
  const ends = await Promise.allSettled(leaked.map(async ({ end }) => end()));
  return leaked.flatMap(({ what }, index) => {
    const end = ends[index];
    if (end?.status === "rejected") return [`${what ?? "what was kept"} (still there: ${String(end.reason)})`];
    return what ?? [];
  });
}
