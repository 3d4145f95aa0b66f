/** True if a path is one of a list, in which `*` at the end stands for anything, and a slash at the end for nothing. */
export const isHidden = (path: string, hidden: readonly string[]): boolean =>
  hidden.some((pattern) =>
    pattern.endsWith("*") ? path.startsWith(pattern.slice(0, -1)) : path === pattern || path === `${pattern}/`,
  );
