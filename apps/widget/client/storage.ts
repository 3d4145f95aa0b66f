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
 * Storage of one key of the widget, in `localStorage` or what `area` returns, where that works. Where it is blocked, full
 * or has been tampered with, values stay in memory: the widget then works until the page is left.
 */
export function openStorage(host: StorageHost, apiKey: string, area = () => host.localStorage): Storage {
  const prefix = `svc:${apiKey}:`;
  const memory = new Map<string, string>();

  function read(name: string): unknown {
    // What somebody else has written there may be no JSON.
    return attempt(() => JSON.parse(memory.get(name) ?? area().getItem(prefix + name) ?? "null"), null);
  }

  function write(name: string, value: unknown): boolean {
    const key = prefix + name;
    const text = JSON.stringify(value);
    const remove = () => area().removeItem(key);
    memory.delete(name);
    const isKept = attempt(() => {
      if (value === null) remove();
      else area().setItem(key, text);
      return true;
    }, false);
    if (!isKept && value !== null) {
      // Full, or read only: an older value must not come back, and memory has the new one.
      attempt(remove, undefined);
      memory.set(name, text);
    }
    return isKept;
  }

  function names(begin: string): string[] {
    const kept = attempt(() => Object.keys(area()), []).filter((key) => key.startsWith(prefix));
    const all = new Set([...kept.map((key) => key.slice(prefix.length)), ...memory.keys()]);
    return [...all].filter((name) => name.startsWith(begin));
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

/** What `work` answers; `otherwise` where the browser blocks it. */
function attempt<Value>(work: () => Value, otherwise: Value): Value {
  try {
    return work();
  } catch {
    // The caller has a default; there is nobody to notify.
    return otherwise;
  }
}
