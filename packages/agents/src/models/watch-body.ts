import { withinMs } from "@svc/primitives";
import { ModelError } from "./model-error.ts";

/** What an answer may take. */
export interface BodyBounds {
  /** From now to the first piece. */
  firstByteMs: number;
  /** From one piece to the next. */
  silenceMs: number;
  maxBytes: number;
  /** Gives the body up; it belongs to one call. */
  signal?: AbortSignal | null | undefined;
}

/** An answer with bounds: it breaks off with a `ModelError` when it is cut, falls silent or gets too long. */
export function watchBody(
  body: ReadableStream<Uint8Array>,
  { firstByteMs, silenceMs, maxBytes, signal }: BodyBounds,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let bytes = 0;
  // A request that is aborted once its answer is there leaves a read of that answer waiting.
  signal?.addEventListener("abort", () => void reader.cancel(signal.reason).catch(() => undefined), { once: true });

  function breakOff(error: ModelError): never {
    // Whatever becomes of the connection: nobody reads it any more.
    reader.cancel(error).catch(() => undefined);
    throw error;
  }

  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const waitMs = bytes === 0 ? firstByteMs : silenceMs;
      const read = await withinMs(readNext(reader), waitMs);
      if (read === undefined) {
        return breakOff(new ModelError("timeout", `the provider has sent nothing for ${Math.round(waitMs)} ms`));
      }
      if (read.done) return controller.close();
      bytes += read.value.byteLength;
      if (bytes > maxBytes) return breakOff(new ModelError("too_long", `the answer is longer than ${maxBytes} bytes`));
      controller.enqueue(read.value);
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

async function readNext(reader: ReadableStreamDefaultReader<Uint8Array>) {
  try {
    return await reader.read();
  } catch (error) {
    throw new ModelError("cut", "the connection dropped during the answer", { cause: error });
  }
}
