/** Beyond this share of its characters, what is no text (controls, replacement characters) makes it binary data. */
const MAX_BINARY_SHARE = 0.02;

/** True when many of the characters are none that a text has: controls, or what a decoder puts for what it cannot read. */
export function looksBinary(text: string): boolean {
  let count = 0;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    const isControl = unit < 0x20 && unit !== 0x09 && unit !== 0x0a && unit !== 0x0c && unit !== 0x0d && unit !== 0x1b;
    if (isControl || unit === 0xff_fd || (unit >= 0x7f && unit < 0xa0)) count += 1;
  }
  return count > text.length * MAX_BINARY_SHARE;
}
