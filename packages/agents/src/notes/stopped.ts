/** Speech gets the full stop that nobody says. */
export const stopped = (text: string) => (/[\p{L}\p{N}]$/u.test(text) && /\s/.test(text) ? `${text}.` : text);
