/** Maximum share of control and replacement characters in a text. */
const MAX_BINARY_SHARE = 0.02;

/** Returns whether a text is binary data: many of its characters are control or replacement characters. */
export function looksBinary(text: string): boolean {
  let count = 0;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    const isControl = unit < 0x20 && unit !== 0x09 && unit !== 0x0a && unit !== 0x0c && unit !== 0x0d && unit !== 0x1b;
    if (isControl || unit === 0xff_fd || (unit >= 0x7f && unit < 0xa0)) count += 1;
  }
  return count > text.length * MAX_BINARY_SHARE;
}
