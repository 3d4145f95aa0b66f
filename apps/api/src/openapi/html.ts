const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

/** A text that HTML shows as it is, between tags and in attributes. */
export const escapeHtml = (text: string) => text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? "");

/** A line of the Markdown that descriptions use: `code` and **strong**. */
export const inlineHtml = (text: string) =>
  escapeHtml(text)
    .replaceAll(/`([^`]+)`/g, "<code>$1</code>")
    .replaceAll(/\*\*([^*]+)\*\*/g, "<strong>$1</strong>");

/** Paragraphs of that Markdown. */
export const paragraphs = (text: string) =>
  text
    .split(/\n{2,}/)
    .map((part) => `<p>${inlineHtml(part)}</p>`)
    .join("");
