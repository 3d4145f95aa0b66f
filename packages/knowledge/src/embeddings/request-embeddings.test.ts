import { describe, expect, test } from "@jest/globals";
import { readEmbeddings } from "./request-embeddings.ts";

const body = (data: unknown) => Buffer.from(JSON.stringify({ object: "list", data }));
const item = (index: number, embedding: unknown) => ({ object: "embedding", index, embedding });
const base64 = (...numbers: number[]) => Buffer.from(Float32Array.from(numbers).buffer).toString("base64");

describe("readEmbeddings", () => {
  test("reads embeddings in the order of the texts, of length 1, however they come", () => {
    expect(readEmbeddings(body([item(1, [0, 2]), item(0, [3, 4])]), 2)).toEqual([
      Float32Array.of(0.6, 0.8),
      Float32Array.of(0, 1),
    ]);
    expect(readEmbeddings(body([item(0, base64(3, 4))]), 1)).toEqual([Float32Array.of(0.6, 0.8)]);
    expect(readEmbeddings(body([{ embedding: [1, 0] }, { embedding: [0, 1] }]), 2)[1]).toEqual(Float32Array.of(0, 1));
  });

  test("an embedding of zeros says nothing", () => {
    expect(readEmbeddings(body([item(0, [0, 0]), item(1, [1, 0])]), 2)[0]).toBeNull();
  });

  test.each([
    ["HTML", Buffer.from("<!doctype html><p>Welcome"), "not JSON"],
    ["nothing", Buffer.alloc(0), "not JSON"],
    ["NaN, as Python writes it", Buffer.from('{"data":[{"index":0,"embedding":[NaN]}]}'), "not JSON"],
    ["a number", Buffer.from("1"), "no list"],
    ["null", Buffer.from("null"), "no list"],
    ["an error with status 200", Buffer.from('{"error":{"message":"no"}}'), "no list"],
    ["too few embeddings", body([]), "0 embeddings for 1"],
    ["too many embeddings", body([item(0, [1]), item(1, [1])]), "2 embeddings for 1"],
    ["an embedding with another number", body([item(1, [1])]), "not consecutive"],
    ["a negative number", body([item(-1, [1])]), "not consecutive"],
    ["a property of arrays for a number", body([{ index: "length", embedding: [1] }]), "not consecutive"],
    ["null for an item", body([null]), "not consecutive"],
    ["no embedding", body([{ index: 0 }]), "neither a list"],
    ["an empty embedding", body([item(0, [])]), "empty"],
    ["text in an embedding", body([item(0, [1, "2"])]), "not a number"],
    ["null in an embedding", body([item(0, [1, null])]), "not a number"],
    ["more than fits into 32 bits", body([item(0, [1e300])]), "not a number"],
    ["infinity", Buffer.from('{"data":[{"index":0,"embedding":[1e999]}]}'), "not a number"],
    ["NaN in base64", body([item(0, base64(1, Number.NaN))]), "not a number"],
    ["base64 that is cut off", body([item(0, "AAAAAAA=")]), "truncated"],
    [
      "an embedding of 10,000 numbers",
      body([
        item(
          0,
          Array.from({ length: 10_000 }, () => 1),
        ),
      ]),
      "too long",
    ],
  ])("says what is wrong with %s", (_, answer, reason) => {
    expect(() => readEmbeddings(answer, 1)).toThrow(reason);
  });

  test("says that embeddings of one answer differ in length, or have one number twice", () => {
    expect(() => readEmbeddings(body([item(0, [1]), item(1, [1, 2])]), 2)).toThrow("different numbers of dimensions");
    expect(() => readEmbeddings(body([item(0, [1]), item(0, [1])]), 2)).toThrow("not consecutive");
  });
});
