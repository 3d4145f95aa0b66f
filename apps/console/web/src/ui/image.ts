import { useEffect, useState } from "react";
import { readImage } from "./files.ts";

/** A larger image could exhaust the memory of the page: 25 megapixels take 100 MB. */
const MAX_PIXELS = 25_000_000;

/**
 * Returns the image with the type detected from its content, whatever its declared type; null if it is not an image or
 * too large.
 */
export function imageOf(bytes: ArrayBuffer): Blob | null {
  const image = readImage(bytes);
  return image === null || image.width * image.height > MAX_PIXELS ? null : new Blob([bytes], { type: image.type });
}

/** Returns the URL of a blob while it is shown; null before. The URL is revoked afterwards, so that the memory is freed. */
export function useAddress(blob: Blob | null): string | null {
  const [address, setAddress] = useState<string | null>(null);
  useEffect(() => {
    if (blob === null) return undefined;
    const created = URL.createObjectURL(blob);
    setAddress(created);
    return () => URL.revokeObjectURL(created);
  }, [blob]);
  return address;
}
