import { expect, test } from "@jest/globals";
import { fixZipDates } from "./fix-zip-dates.ts";

test.each([Buffer.alloc(0), Buffer.from("not an archive, but longer than its end record")])(
  "throws for bytes that are not an archive",
  (bytes) => {
    expect(() => fixZipDates(bytes)).toThrow("not a ZIP archive");
  },
);

test("throws for a directory with an invalid offset", () => {
  const end = Buffer.alloc(68);
  end.writeUInt32LE(0x06054b50, 46);
  end.writeUInt16LE(1, 56);
  expect(() => fixZipDates(end)).toThrow("directory is damaged");
});
