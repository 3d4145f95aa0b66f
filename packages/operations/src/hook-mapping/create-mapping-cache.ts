import type { Hook } from "@svc/store";
import { compileMapping } from "./compile-mapping.ts";
import type { ReadMapping } from "./compile-mapping.ts";
import type { ReadHookMapping } from "./map-body.ts";

/** Hooks whose mappings are kept, those used last. A mapping that was read takes some ten kilobytes, mostly less. */
const MAX_HOOKS = 200;

/** Mappings that have been read. */
export interface MappingCache {
  /** What reads the mapping of a hook: only once a version of it, as long as it is among those used last. */
  readerOf(hook: Pick<Hook, "id" | "version">): ReadHookMapping;
}

/** Makes an empty cache of the mappings of hooks. */
export function createMappingCache(): MappingCache {
  const kept = new Map<string, { version: number; read: ReadMapping }>();
  return {
    readerOf:
      ({ id, version }) =>
      (mapping, filter) => {
        const known = kept.get(id);
        const read = known?.version === version ? known.read : compileMapping(mapping, filter);
        // Taken out and put in again, so that the first one is the one that was not used for longest.
        kept.delete(id);
        kept.set(id, { version, read });
        const [oldest] = kept.keys();
        if (kept.size > MAX_HOOKS && oldest !== undefined) kept.delete(oldest);
        return read;
      },
  };
}
