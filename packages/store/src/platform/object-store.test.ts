import { expect, test } from "@jest/globals";
import { parseFilesUrl } from "./object-store.ts";

test("the URL of a file store has a key, a secret, a host and a bucket, and defaults to TLS in us-east-1", () => {
  expect(parseFilesUrl("s3://key:s%2Fcret@s3.example.com:9000/bucket/prefix/?region=eu-central-1&tls=false")).toEqual({
    base: "http://s3.example.com:9000/bucket/prefix/",
    region: "eu-central-1",
    accessKeyId: "key",
    secretAccessKey: "s/cret",
  });
  expect(parseFilesUrl("s3://key:secret@s3.example.com/bucket")).toMatchObject({
    base: "https://s3.example.com/bucket/",
    region: "us-east-1",
  });
});

test.each([
  "",
  "bucket",
  "https://key:secret@s3.example.com/bucket",
  "s3://s3.example.com/bucket",
  "s3://key@s3.example.com/bucket",
  "s3://key:secret@s3.example.com/",
  "s3://key:secret@s3.example.com/bucket?tls=no",
  "s3://key:secret@s3.example.com/bucket?endpoint=x",
])("rejects %s as the URL of a file store", (text) => {
  expect(parseFilesUrl(text)).toBeNull();
});
