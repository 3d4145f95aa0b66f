import { expect, test } from "@jest/globals";
import { detachWeights } from "./read-model-folder.ts";

const field = (number: number, body: Buffer | string) => {
  const bytes = Buffer.from(body);
  const length = bytes.length > 127 ? [(bytes.length % 128) + 128, Math.floor(bytes.length / 128)] : [bytes.length];
  return Buffer.concat([Buffer.from([number * 8 + 2, ...length]), bytes]);
};

test("takes large weights out of a model, says where they are, and leaves the rest as it is", () => {
  const large = Buffer.alloc(2_000, 7);
  const small = field(5, Buffer.concat([field(8, "axes"), field(9, "12345678")]));
  const node = field(1, field(4, "Gather"));
  const version = Buffer.from([8, 8]);
  const weights = field(5, Buffer.concat([field(8, "table"), field(9, large)]));
  const file = Buffer.concat([version, field(7, Buffer.concat([node, weights, small]))]);

  const detached = detachWeights(file, "onnx/model.onnx");
  const offset = file.indexOf(large);
  const entry = (key: string, value: string | number) =>
    field(13, Buffer.concat([field(1, key), field(2, String(value))]));
  const position = [entry("location", "onnx/model.onnx"), entry("offset", offset), entry("length", 2_000)];
  const reference = field(5, Buffer.concat([field(8, "table"), ...position, Buffer.from([14 * 8, 1])]));
  expect(detached).toEqual(Buffer.concat([version, field(7, Buffer.concat([node, reference, small]))]));
});

test.each([
  ["no model", Buffer.from("no model")],
  ["a model that is cut off", field(7, field(5, field(9, "weights"))).subarray(0, -1)],
])("rejects %s", (_, file) => {
  expect(() => detachWeights(file, "model.onnx")).toThrow("not a valid ONNX model");
});
