import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** Options of the model. */
export interface EmbeddingModelOptions {
  /** The words that the model knows, one list per meaning; all other words share another meaning. */
  meanings: readonly (readonly string[])[];
  /** Files that are added or replaced; null removes one. */
  files?: Readonly<Record<string, object | string | null>>;
  /** Name of an additional input of the model. */
  extraInput?: string;
}

const SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"];

/**
 * Writes a folder with a tiny sentence-embedding model, in the layout of transformers.js: a real ONNX graph that looks
 * up the tokens of a text in a table, and a WordPiece tokenizer. Words of the same list of `meanings` have the same
 * vector, orthogonal to all others. The vectors of its special tokens are shorter and similar.
 */
export function writeEmbeddingModel(dir: string, options: EmbeddingModelOptions): void {
  const { meanings, extraInput } = options;
  const words = [...new Set(meanings.flat())];
  const vocabulary = Object.fromEntries([...SPECIAL, ...words].map((word, id) => [word, id]));
  const dimensions = meanings.length + 1;
  const rows = [
    ...SPECIAL.map(() => [dimensions - 1, 0.1] as const),
    ...words.map((word) => [meanings.findIndex((meaning) => meaning.includes(word)), 1] as const),
  ];
  const table = new Float32Array(rows.length * dimensions);
  for (const [row, [position, number]] of rows.entries()) table[row * dimensions + position] = number;
  const files: Record<string, object | string | null> = {
    "config.json": { model_type: "bert", max_position_embeddings: 512 },
    "tokenizer.json": tokenizerOf(vocabulary),
    "tokenizer_config.json": { tokenizer_class: "BertTokenizer", model_max_length: 512, unk_token: "[UNK]" },
    "onnx/model.onnx": modelOf(table, { rowCount: rows.length, dimensions, extraInput }),
    ...options.files,
  };
  for (const [name, content] of Object.entries(files)) {
    if (content === null) continue;
    const path = join(dir, name);
    mkdirSync(dirname(path), { recursive: true });
    const isRaw = typeof content === "string" || content instanceof Uint8Array;
    writeFileSync(path, isRaw ? content : JSON.stringify(content));
  }
}

function tokenizerOf(vocabulary: Readonly<Record<string, number>>): object {
  const special = (content: string) => ({ id: vocabulary[content], content, special: true });
  const token = (id: string) => ({ SpecialToken: { id, type_id: 0 } });
  return {
    version: "1.0",
    added_tokens: SPECIAL.map(special),
    normalizer: { type: "BertNormalizer", clean_text: true, handle_chinese_chars: true, lowercase: true },
    pre_tokenizer: { type: "BertPreTokenizer" },
    post_processor: {
      type: "TemplateProcessing",
      single: [token("[CLS]"), { Sequence: { id: "A", type_id: 0 } }, token("[SEP]")],
      pair: [],
      special_tokens: Object.fromEntries(
        ["[CLS]", "[SEP]"].map((id) => [id, { id, ids: [vocabulary[id]], tokens: [id] }]),
      ),
    },
    decoder: { type: "WordPiece", prefix: "##", cleanup: true },
    model: {
      type: "WordPiece",
      unk_token: "[UNK]",
      continuing_subword_prefix: "##",
      max_input_chars_per_word: 100,
      vocab: vocabulary,
    },
  };
}

/** Numbers of ONNX's types and of the fields of its messages, from onnx.proto. */
const FLOAT = 1;
const INT64 = 7;

/** Returns an ONNX model whose output is the table's row of each token. */
function modelOf(
  table: Float32Array,
  { rowCount, dimensions, extraInput }: { rowCount: number; dimensions: number; extraInput: string | undefined },
): Buffer {
  const inputs = ["input_ids", "attention_mask", "token_type_ids", ...(extraInput === undefined ? [] : [extraInput])];
  const tensor = message(
    ...[rowCount, dimensions].map((dimension) => field(1, dimension)),
    field(2, FLOAT),
    field(8, "table"),
    field(9, Buffer.from(table.buffer)),
  );
  const gather = message(field(1, "table"), field(1, "input_ids"), field(2, "last_hidden_state"), field(4, "Gather"));
  const graph = message(
    field(1, gather),
    field(2, "graph"),
    field(5, tensor),
    ...inputs.map((name) => field(11, valueOf(name, INT64, ["batch", "sequence"]))),
    field(12, valueOf("last_hidden_state", FLOAT, ["batch", "sequence", dimensions])),
  );
  const version = { ir: 8, operators: 17 };
  return message(field(1, version.ir), field(7, graph), field(8, message(field(2, version.operators))));
}

function valueOf(name: string, type: number, dimensions: readonly (string | number)[]): Buffer {
  const shape = message(
    ...dimensions.map((dimension) => field(1, message(field(typeof dimension === "number" ? 1 : 2, dimension)))),
  );
  return message(field(1, name), field(2, message(field(1, message(field(1, type), field(2, shape))))));
}

const message = (...fields: Buffer[]) => Buffer.concat(fields);

/** Encodes a field of a protobuf message: a number as a varint, anything else with its length. */
function field(number: number, value: number | string | Buffer): Buffer {
  if (typeof value === "number") return Buffer.concat([varint(number << 3), varint(value)]);
  const bytes = Buffer.from(value);
  return Buffer.concat([varint((number << 3) | 2), varint(bytes.length), bytes]);
}

function varint(number: number): Buffer {
  const bytes: number[] = [];
  let rest = number;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
  return Buffer.from([...bytes, rest]);
}
