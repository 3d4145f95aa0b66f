/** Characters of addresses that are no signs of a shell, of HTML or of JSON: what is said is put into snippets. */
const ADDRESS = /^https?:\/\/[\w.:[\]-]+(?:\/[\w./~%-]*)?$/i;

/** An address as it is put before paths: http or https, without a slash at its end. Null for anything else. */
export function readAddress(text: string): string | null {
  const trimmed = text.trim().replace(/\/+$/, "");
  return ADDRESS.test(trimmed) && URL.canParse(trimmed) ? trimmed : null;
}
