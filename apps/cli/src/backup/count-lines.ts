const LINE_FEED = 0x0a;

/** How many lines end in these bytes. */
export function countLines(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(LINE_FEED); at !== -1; at = bytes.indexOf(LINE_FEED, at + 1)) count += 1;
  return count;
}
