/** Something that a test has started and must end: what it is, and how to end it when the test has not. */
interface HeldResource {
  what: string;
  end: () => Promise<unknown>;
}

/** The list hangs on the global object of the test file's realm, where the jest environment outside can find it. */
const HELD = Symbol.for("@svc/testing held resources");

type Realm = { [HELD]?: Set<HeldResource> };

/**
 * Notes that something was started that must not outlive the test file, and how to end it. Answers a function that
 * notes its end.
 */
export function holdResource(what: string, end: () => Promise<unknown>): () => void {
  const realm = globalThis as Realm;
  const held = (realm[HELD] ??= new Set());
  const resource = { what, end };
  held.add(resource);
  return () => void held.delete(resource);
}

/**
 * Ends what is still held in a realm, and answers what that was: an empty list when nothing leaked. Meant for the end
 * of a test file.
 */
export async function endHeldResources(realm: object): Promise<string[]> {
  const held = (realm as Realm)[HELD] ?? new Set();
  const leaked = [...held];
  held.clear();
  await Promise.all(leaked.map(({ end }) => end()));
  return leaked.map(({ what }) => what);
}
