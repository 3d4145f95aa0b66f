/**
 * The widget's values in the browser's storage, as JSON by name. Never throws: values that cannot be stored last until
 * the page is left.
 */
export interface Storage {
  /** Returns the stored value of `name`, or null if there is none or it is invalid. */
  read: (name: string) => unknown;
  /** Stores `value`; null removes it. Returns false if the browser rejected it, so that it is lost with the page. */
  write: (name: string, value: unknown) => boolean;
  /** Returns stored names that begin with `prefix`. */
  names: (prefix: string) => string[];
  /** Calls `listener` when another tab has changed the value of `name`; returns a function that unsubscribes it. */
  follow: (listener: (name: string) => void) => () => void;
}

/** The used part of `window`. */
export interface StorageHost {
  /** Throws if the browser blocks it. */
  readonly localStorage: globalThis.Storage;
  addEventListener: (type: "storage", listener: (event: StorageEvent) => void) => void;
  removeEventListener: (type: "storage", listener: (event: StorageEvent) => void) => void;
}

/**
 * Opens the storage for a key of the widget, in `localStorage` or what `area` returns, if available. If that is blocked,
 * full or was tampered with, values stay in memory: the widget then works until the page is left.
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
      // Full, or read-only: an older value must not come back, and memory has the new one.
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
      // A null key means that everything was removed.
      if (key === null) listener("visitor");
      else if (key.startsWith(prefix)) listener(key.slice(prefix.length));
    };
    host.addEventListener("storage", hear);
    return () => host.removeEventListener("storage", hear);
  }

  return { read, write, names, follow };
}

/** Returns the result of `work`; `otherwise` if the browser blocks it. */
function attempt<Value>(work: () => Value, otherwise: Value): Value {
  try {
    return work();
  } catch {
    // The caller has a default; there is nobody to notify.
    return otherwise;
  }
}

/** Returns a random UUID (version 4). `crypto.randomUUID` is missing on pages without HTTPS; random bytes are not. */
export function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(36));
  // Each x is a random digit; y is one of 8, 9, a and b, as the version requires.
  return "xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx".replace(/[xy]/g, (position, at: number) => {
    const digit = (bytes[at] ?? 0) & 15;
    return (position === "x" ? digit : (digit & 3) | 8).toString(16);
  });
}
