/** What the browser keeps for us, as JSON by name. Never throws: what cannot be kept lasts as long as the page. */
export interface Storage {
  /** What was kept under `name`, or null where there is nothing or nothing that can be read. */
  read: (name: string) => unknown;
  /** Keeps `value`; null removes it. False where the browser did not take it, so that it is gone with the page. */
  write: (name: string, value: unknown) => boolean;
  /** Names that are kept and begin with `prefix`. */
  names: (prefix: string) => string[];
  /** Calls `listener` when another tab has changed what is kept under `name`; answers a function that ends this. */
  follow: (listener: (name: string) => void) => () => void;
}

/** The part of `window` that is needed. */
export interface StorageHost {
  /** Throws where a browser blocks it. */
  readonly localStorage: globalThis.Storage;
  addEventListener: (type: "storage", listener: (event: StorageEvent) => void) => void;
  removeEventListener: (type: "storage", listener: (event: StorageEvent) => void) => void;
}

/**
 * Storage of one key of the widget, in `localStorage` where that works. Where it is blocked, full or has been tampered
 * with, values stay in memory: the widget then works until the page is left.
 */
export function openStorage(host: StorageHost, apiKey: string): Storage {
  const prefix = `svc:${apiKey}:`;
  const memory = new Map<string, string>();

  function local(): globalThis.Storage | null {
    try {
      return host.localStorage;
    } catch {
      // The browser blocks it for this page; memory has to do.
      return null;
    }
  }

  function read(name: string): unknown {
    try {
      const text = memory.get(name) ?? local()?.getItem(prefix + name) ?? null;
      return text === null ? null : JSON.parse(text);
    } catch {
      // Somebody else has written it, or the browser refuses to read: as if nothing were there.
      return null;
    }
  }

  function write(name: string, value: unknown): boolean {
    memory.delete(name);
    const store = local();
    try {
      if (value === null) {
        store?.removeItem(prefix + name);
        return true;
      }
      if (store !== null) {
        store.setItem(prefix + name, JSON.stringify(value));
        return true;
      }
    } catch {
      // Full, or read only: an older value must not come back, and memory has the new one.
      remove(store, prefix + name);
    }
    if (value !== null) memory.set(name, JSON.stringify(value));
    return false;
  }

  function names(begin: string): string[] {
    try {
      const kept = Object.keys(local() ?? {}).flatMap((key) =>
        key.startsWith(prefix) ? key.slice(prefix.length) : [],
      );
      return [...new Set([...kept, ...memory.keys()])].filter((name) => name.startsWith(begin));
    } catch {
      // A browser that does not let us look has kept nothing for us.
      return [...memory.keys()].filter((name) => name.startsWith(begin));
    }
  }

  function follow(listener: (name: string) => void): () => void {
    const hear = ({ key }: StorageEvent) => {
      // A key of null says that everything was removed.
      if (key === null) listener("visitor");
      else if (key.startsWith(prefix)) listener(key.slice(prefix.length));
    };
    host.addEventListener("storage", hear);
    return () => host.removeEventListener("storage", hear);
  }

  return { read, write, names, follow };
}

function remove(store: globalThis.Storage | null, key: string): void {
  try {
    store?.removeItem(key);
  } catch {
    // It could not be written either; there is nothing more to do.
  }
}
