/** A variable in double braces; the server uses the same pattern. */
const VARIABLE = /\{\{([^{}]*)\}\}/g;
/** Characters with a meaning in Markdown: the server inserts values literally. */
const MARKDOWN_SIGNS = /[\\`*_{}[\]()#+\-.!|<>~&^$=:/@"']/g;

/**
 * Returns a canned reply as Markdown, with examples as the values of its variables; `unknown` are the unknown names,
 * without duplicates, which are left unchanged.
 */
export function fillExample(
  text: string,
  examples: Readonly<Record<string, string>>,
): { text: string; unknown: string[] } {
  const unknown = new Set<string>();
  const filled = text.replaceAll(VARIABLE, (whole, between: string) => {
    const name = between.trim();
    const example = Object.hasOwn(examples, name) ? examples[name] : undefined;
    if (example !== undefined) return example.replace(MARKDOWN_SIGNS, (sign) => `\\${sign}`);
    unknown.add(name);
    return whole;
  });
  return { text: filled, unknown: [...unknown] };
}
