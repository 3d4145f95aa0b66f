import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parentPort, workerData } from "node:worker_threads";
import { Tokenizer } from "@huggingface/tokenizers";
import { InferenceSession, Tensor, env } from "onnxruntime-web";
import { errorMessage } from "@svc/primitives";
import { detachWeights, readTokenizer } from "./read-model-folder.ts";
import type { ModelFolder } from "./read-model-folder.ts";

/** Message of the thread: the model is loaded or cannot be loaded, then one outcome for each text, in order. */
export type EmbedWorkerMessage = { kind: "loaded" } | { kind: "failed"; reason: string } | EmbedOutcome;

/** Result for a text. */
export type EmbedOutcome = { kind: "embedded"; embedding: Float32Array } | { kind: "refused"; reason: string };

/** Outputs with the embedding of the whole text or of its tokens, in order of preference. */
const OUTPUTS = ["sentence_embedding", "last_hidden_state", "token_embeddings"];

const port = parentPort;
const folder = workerData as ModelFolder;

// One thread, so that embedding leaves the other processors to requests.
env.wasm.numThreads = 1;
env.logLevel = "error";

/** Returns the token ids of a text, with the model's special tokens. A longer text is truncated. */
function createEncoder(): (text: string) => number[] {
  const { tokenizer: model, config } = readTokenizer(folder.dir);
  const tokenizer = new Tokenizer(model, config);
  const encode = (text: string, special: boolean): number[] =>
    tokenizer.encode(text, { add_special_tokens: special }).ids;
  const framed = encode("a", true);
  const bare = encode("a", false);
  const before = framed.findIndex((_, start) => bare.every((id, position) => framed[start + position] === id));
  if (bare.length === 0 || before === -1) throw new Error("its tokenizer has no letters in its vocabulary");
  const prefix = framed.slice(0, before);
  const suffix = framed.slice(before + bare.length);
  const room = folder.maxTokens - prefix.length - suffix.length;
  return (text) => [...prefix, ...encode(text, false).slice(0, room), ...suffix];
}

/** Creates the input tensors of a model from token ids. */
function createInputs({ inputMetadata }: InferenceSession): (ids: readonly number[]) => Record<string, Tensor> {
  const values: Readonly<Record<string, (id: number, position: number) => number>> = {
    input_ids: (id) => id,
    attention_mask: () => 1,
    token_type_ids: () => 0,
    position_ids: (_, position) => position,
  };
  const wanted = inputMetadata.map((input) => {
    const value = values[input.name];
    if (value === undefined) {
      throw new Error(`it requires the input "${input.name}", which sentence-embedding models do not have`);
    }
    const type = input.isTensor ? input.type : undefined;
    return { name: input.name, value, isInt32: type === "int32" };
  });
  return (ids) =>
    Object.fromEntries(
      wanted.map(({ name, value, isInt32 }) => {
        const numbers = ids.map(value);
        const shape = [1, ids.length];
        return [
          name,
          isInt32
            ? new Tensor("int32", Int32Array.from(numbers), shape)
            : new Tensor("int64", BigInt64Array.from(numbers, BigInt), shape),
        ];
      }),
    );
}

/** Combines the vectors of all tokens. Only the direction matters, so a sum is as good as a mean. */
function pool(numbers: Float32Array, tokenCount: number, dimensions: number): Float32Array {
  if (folder.pooling === "cls") return numbers.slice(0, dimensions);
  if (folder.pooling === "last") return numbers.slice((tokenCount - 1) * dimensions);
  const sums = new Float32Array(dimensions);
  for (let start = 0; start < numbers.length; start += dimensions) {
    for (let position = 0; position < dimensions; position += 1)
      sums[position] = (sums[position] ?? 0) + (numbers[start + position] ?? 0);
  }
  return sums;
}

function embeddingOf({ data, dims }: Tensor): Float32Array {
  if (!(data instanceof Float32Array)) throw new Error("its output does not consist of 32-bit floats");
  const [, first = 0, second] = dims;
  return second === undefined ? data.slice() : pool(data, first, second);
}

async function createSession(): Promise<InferenceSession> {
  const bytes = readFileSync(join(folder.dir, folder.weights));
  return InferenceSession.create(detachWeights(bytes, folder.weights), {
    executionProviders: ["wasm"],
    externalData: [{ path: folder.weights, data: bytes }],
  });
}

/** Loads the model; returns the function that embeds a text. */
async function load(): Promise<(text: string) => Promise<Float32Array>> {
  const encode = createEncoder();
  const session = await createSession();
  const inputsFor = createInputs(session);
  const output = OUTPUTS.find((name) => session.outputNames.includes(name)) ?? session.outputNames[0] ?? "";
  return async (text) => {
    const { [output]: tensor } = await session.run(inputsFor(encode(text)), [output]);
    if (tensor === undefined) throw new Error("it has no output");
    const embedding = embeddingOf(tensor);
    tensor.dispose();
    return embedding;
  };
}

const reasonOf = (error: unknown) => errorMessage(error);

function post(message: EmbedWorkerMessage): void {
  port?.postMessage(message, message.kind === "embedded" ? [message.embedding.buffer as ArrayBuffer] : []);
}

try {
  const embed = await load();
  port?.on("message", (text: string) => {
    embed(text).then(
      (embedding) => post({ kind: "embedded", embedding }),
      (error: unknown) => post({ kind: "refused", reason: reasonOf(error) }),
    );
  });
  post({ kind: "loaded" });
} catch (error) {
  post({ kind: "failed", reason: reasonOf(error) });
}
