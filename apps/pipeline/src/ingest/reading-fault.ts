import { ServiceError } from "@svc/contracts";

/** A document or site could not be read; the cause says why. Everything else that fails is the service's own fault. */
export class ReadingFault extends Error {
  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : "The document could not be read.", { cause });
    this.name = "ReadingFault";
  }

  /** True when it will be the same at every try: the fault is the document's own. */
  get isFinal(): boolean {
    return this.cause instanceof ServiceError && FINAL.has(this.cause.code);
  }
}

const FINAL: ReadonlySet<string> = new Set(["invalid_request", "payload_too_large", "unsupported_media_type"]);

/** Runs what reads a document; whatever it throws is a `ReadingFault`. */
export async function reading<Result>(work: () => Result | Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw new ReadingFault(error);
  }
}
