/**
 * Makes `new Uint8Array(length)` throw beyond `maxBytes` in this thread, and returns afterwards whether it did. Streams
 * of a PDF are unpacked into such arrays, which lie outside of the heap that a worker's limits bound, and pdfjs has no
 * limit of its own: a file of 1 MB may ask for gigabytes. pdfjs reads on without a stream that failed, hence the
 * question.
 */
export function boundAllocations(maxBytes: number): { takeExceeded(): boolean } {
  let isExceeded = false;
  globalThis.Uint8Array = new Proxy(Uint8Array, {
    construct(target, [first, ...rest]: unknown[], newTarget) {
      if (typeof first === "number" && first > maxBytes) {
        isExceeded = true;
        throw new RangeError(`An array of ${first} bytes exceeds the limit of ${maxBytes} bytes for reading a file.`);
      }
      return Reflect.construct(target, [first, ...rest], newTarget) as object;
    },
  });
  return {
    takeExceeded() {
      const was = isExceeded;
      isExceeded = false;
      return was;
    },
  };
}
