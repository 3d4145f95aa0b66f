/** What stands between double braces; the server looks for the same. */
const VARIABLE = /\{\{([^{}]*)\}\}/g;
/** Signs that mean something in Markdown: the server shows values letter for letter. */
const MARKDOWN_SIGNS = /[\\`*_{}[\]()#+\-.!|<>~&^$=:/@"']/g;

/**
 * A canned reply as Markdown, filled in with examples of what its variables stand for; `unknown` are the names that
 * are none, each once, which stay as they are.
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
