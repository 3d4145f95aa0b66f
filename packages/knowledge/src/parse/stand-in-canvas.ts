/**
 * pdfjs makes one `DOMMatrix` when it is loaded, for drawing, and takes the class from a native library where the
 * platform has none. Only text is read here, so plain objects stand in: import this before pdfjs.
 */
for (const name of ["DOMMatrix", "ImageData", "Path2D"]) {
  if (!(name in globalThis)) {
    Object.defineProperty(globalThis, name, { value: Object, configurable: true, writable: true });
  }
}

export {};
