/** A provider did not return what it was asked for: `message` continues after its name and holds none of its words. */
export class ProviderError extends Error {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.name = "ProviderError";
  }
}
