/** Minimum size of a tensor that is moved: shapes and axes must stay, and other small ones are not worth it. */
const MIN_BYTES = 1_024;

/** Field numbers of the messages in onnx.proto, and the value for external data. */
const GRAPH = 7;
const INITIALIZER = 5;
const RAW_DATA = 9;
const EXTERNAL_DATA = 13;
const DATA_LOCATION = 14;
const IS_EXTERNAL = 1;

/**
 * Moves the weights out of an ONNX model: returns the model with each large initializer referring to its offset in the
 * file (`external_data`) named `location`. Its results are the same. A runtime copies external weights once; weights
 * within the model are copied with the message, when parsed, and as tensors, in memory that WebAssembly never releases:
 * 590 instead of 1,030 MB for 280 MB of weights. Throws an `Error` for a file that is not a model.
 */
export function detachWeights(file: Buffer, location: string): Buffer {
  const detach = (weights: Buffer): Buffer => {
    if (weights.length < MIN_BYTES) return encode(RAW_DATA, weights);
    const position = { location, offset: weights.byteOffset - file.byteOffset, length: weights.length };
    const entries = Object.entries(position).map(([key, value]) =>
      encode(EXTERNAL_DATA, Buffer.concat([encode(1, Buffer.from(key)), encode(2, Buffer.from(String(value)))])),
    );
    return Buffer.concat([...entries, encode(DATA_LOCATION, IS_EXTERNAL)]);
  };
  const detachAll = (graph: Buffer) =>
    replace(graph, INITIALIZER, (tensor) => encode(INITIALIZER, replace(tensor, RAW_DATA, detach)));
  return replace(file, GRAPH, (graph) => encode(GRAPH, detachAll(graph)));
}

/** Copies a protobuf message, and replaces each field of this number, which contains bytes, by the result of `make`. */
function replace(message: Buffer, number: number, make: (body: Buffer) => Buffer): Buffer {
  const parts: Buffer[] = [];
  let position = 0;
  while (position < message.length) {
    const start = position;
    const tag = readVarint();
    const type = tag % 8;
    let body: Buffer | null = null;
    if (type === 0) readVarint();
    else if (type === 1) position += 8;
    else if (type === 5) position += 4;
    else if (type === 2) {
      const length = readVarint();
      body = message.subarray(position, position + length);
      position += length;
    } else position = Number.POSITIVE_INFINITY;
    if (position > message.length)
      throw new Error("its weights are not a valid ONNX model, or were not copied completely");
    parts.push(body !== null && Math.floor(tag / 8) === number ? make(body) : message.subarray(start, position));
  }
  return Buffer.concat(parts);

  /** Numbers above 2^53, which only negative ones are, are skipped. */
  function readVarint(): number {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = message[position] ?? 0;
      position += 1;
      value += (byte % 128) * factor;
      if (byte < 128) return value;
    }
  }
}

/** Encodes a field: bytes with their length, or a number as a varint. */
function encode(number: number, value: Buffer | number): Buffer {
  if (typeof value === "number") return Buffer.concat([varint(number * 8), varint(value)]);
  return Buffer.concat([varint(number * 8 + 2), varint(value.length), value]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return Buffer.from([...bytes, rest]);
}
