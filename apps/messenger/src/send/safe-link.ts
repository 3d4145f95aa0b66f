/** Telegram would take a mail address for a web site; it finds those and phone numbers in the text by itself. */
const SCHEMES = new Set(["http:", "https:", "tg:"]);

/** Longer addresses are not made links of. */
const LENGTH_LIMIT = 2_048;

/** The address as a link may have it; null for one that Telegram, or a reader, is better not given as a link. */
export function safeLink(url: string): string | null {
  if (url.length > LENGTH_LIMIT) return null;
  try {
    const { protocol, href } = new URL(url);
    return SCHEMES.has(protocol) ? href : null;
  } catch {
    // Relative addresses lead nowhere in a message.
    return null;
  }
}

/** The address of a link as readers see it where there can be no link. */
export const shownAddress = (url: string): string => url.replace(/^(?:mailto|tel):/i, "");
