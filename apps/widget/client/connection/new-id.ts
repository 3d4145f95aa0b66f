/** A random UUID (version 4). `crypto.randomUUID` is missing on pages without HTTPS; random bytes are not. */
export function newId(source: Crypto = crypto): string {
  if (typeof source.randomUUID === "function") return source.randomUUID();
  const bytes = source.getRandomValues(new Uint8Array(16));
  const hex = Array.from(bytes, (byte, index) => {
    if (index === 6) return (byte & 0x0f) | 0x40;
    return index === 8 ? (byte & 0x3f) | 0x80 : byte;
  }).map((byte) => byte.toString(16).padStart(2, "0"));
  return [4, 6, 8, 10].reduceRight((text, at) => `${text.slice(0, at * 2)}-${text.slice(at * 2)}`, hex.join(""));
}
