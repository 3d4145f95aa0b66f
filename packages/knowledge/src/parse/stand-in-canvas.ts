/**
 * pdfjs creates a `DOMMatrix` on load, for drawing, and loads a native library for it if the platform has none. Only
 * text is read here, so plain objects replace it: import this before pdfjs.
 */
for (const name of ["DOMMatrix", "ImageData", "Path2D"]) {
  if (!(name in globalThis)) {
    Object.defineProperty(globalThis, name, { value: Object, configurable: true, writable: true });
  }
}

export {};
