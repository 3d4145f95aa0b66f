const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** Makes a text safe within Telegram's HTML, in attributes too. */
export const escapeHtml = (text: string): string => text.replaceAll(/[&<>"]/g, (each) => ENTITIES[each] ?? each);

/** A fence's language as an attribute's value may have it; null where nothing is left of it. */
export function languageName(language: string | null | undefined): string | null {
  const name = (language ?? "").replaceAll(/[^\w+#.-]/g, "").slice(0, 40);
  return name === "" ? null : name;
}
