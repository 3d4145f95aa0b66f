/** A word as a POSIX shell takes it, so that advice can be pasted whatever something is called. */
export function shellWord(text: string): string {
  return /^[\w./:@][\w./:@-]*$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
