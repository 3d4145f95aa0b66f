/** The part of a browser's storage that is used. */
export type KeptTexts = Pick<Storage, "getItem" | "setItem" | "removeItem"> & { keys: () => string[] };

/**
 * The browser's storage, or for as long as the page is open a replacement where the browser allows none. A full
 * storage keeps nothing new.
 */
export function openStorage(find: () => Storage): KeptTexts {
  try {
    const storage = find();
    storage.getItem("");
    return {
      getItem: (key) => storage.getItem(key),
      setItem(key, value) {
        try {
          storage.setItem(key, value);
        } catch {
          // Full: what is typed is still on the page.
        }
      },
      removeItem: (key) => storage.removeItem(key),
      keys: () => Object.keys(storage),
    };
  } catch {
    // Refused by the browser's settings.
    const texts = new Map<string, string>();
    return {
      getItem: (key) => texts.get(key) ?? null,
      setItem: (key, value) => void texts.set(key, value),
      removeItem: (key) => void texts.delete(key),
      keys: () => [...texts.keys()],
    };
  }
}
