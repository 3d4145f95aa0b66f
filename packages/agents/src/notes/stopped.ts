/** Adds the full stop that speech lacks. */
export const stopped = (text: string) => (/[\p{L}\p{N}]$/u.test(text) && /\s/.test(text) ? `${text}.` : text);
