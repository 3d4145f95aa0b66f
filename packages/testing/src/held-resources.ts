/** Something that a test file has started, and how to end it when the file has not. */
interface HeldResource {
  /** Name of what the file must end itself; null for what is kept until its end, which is no leak. */
  what: string | null;
  end: () => Promise<unknown>;
}

/** The list hangs on the global object of the test file's realm, where the jest environment outside can find it. */
const HELD = Symbol.for("@svc/testing held resources");

type Realm = { [HELD]?: Set<HeldResource> };

/**
 * Notes that something was started that must not outlive the test file, and how to end it. Returns a function that
 * notes its end.
 */
export function holdResource(what: string | null, end: () => Promise<unknown>): () => void {
  const realm = globalThis as Realm;
  const held = (realm[HELD] ??= new Set());
  const resource = { what, end };
  held.add(resource);
  return () => void held.delete(resource);
}

/**
 * Ends what is still held in a realm and returns what that was: an empty list if nothing leaked. Never rejects: what
 * cannot be ended is named with the reason. Meant for the end of a test file.
 */
export async function endHeldResources(realm: object): Promise<string[]> {
  const held = (realm as Realm)[HELD] ?? new Set();
  const leaked = [...held];
  held.clear();
  const ends = await Promise.allSettled(leaked.map(async ({ end }) => end()));
  return leaked.flatMap(({ what }, index) => {
    const end = ends[index];
    if (end?.status === "rejected") return [`${what ?? "what was kept"} (still there: ${String(end.reason)})`];
    return what ?? [];
  });
}
