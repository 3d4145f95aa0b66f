/** A provider that has not said what it was asked: `message` goes on after its name, and has nothing of its words. */
export class ProviderError extends Error {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.name = "ProviderError";
  }
}
