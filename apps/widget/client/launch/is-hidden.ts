/**
 * Returns true if a path matches one of a list, in which a trailing `*` matches anything, and a trailing slash is
 * ignored.
 */
export const isHidden = (path: string, hidden: readonly string[]): boolean =>
  hidden.some((pattern) =>
    pattern.endsWith("*") ? path.startsWith(pattern.slice(0, -1)) : path === pattern || path === `${pattern}/`,
  );
