import { createHash } from "node:crypto";
import { describe, expect, test } from "@jest/globals";
import { privacySubjectSchema, visitorChatId, visitorChatIds } from "./privacy.ts";

const VISITOR = "6f1c3b1e-6a53-4c0e-9a55-0d8f5b8a7c11";

describe("the chat of a visitor", () => {
  test("never changes, ignores the case of the id, and differs between visitors", () => {
    expect(visitorChatId(VISITOR)).toBe("v_RqfMzVmifl--B3lhqoL3xILie53eLHoImF0ah_2oahA");
    expect(visitorChatId(VISITOR, 1)).toBe(visitorChatId(VISITOR));
    expect(new Set(visitorChatIds(VISITOR)).size).toBe(50);
    expect(visitorChatId(VISITOR.toUpperCase())).toBe(visitorChatId(VISITOR));
    expect(visitorChatId(VISITOR.replace("1", "2"))).not.toBe(visitorChatId(VISITOR));
  });

  test("is no plain hash of the id, which could be looked up elsewhere", () => {
    expect(visitorChatId(VISITOR)).not.toContain(createHash("sha256").update(VISITOR).digest("base64url"));
  });
});

describe("a person whose data is requested", () => {
  test.each([{ userId: "u" }, { visitorId: VISITOR }, { chatId: "c" }, { chatId: "issue:1", channelId: "api" }])(
    "can be identified by %j",
    (subject) => {
      expect(privacySubjectSchema.parse(subject)).toEqual(subject);
    },
  );

  test("reports all errors at once", () => {
    const { error } = privacySubjectSchema.safeParse({ userId: "", visitorId: "v", channelId: "fax", more: 1 });
    expect(error?.issues.map(({ path, code }) => `${code} ${path.join("/")}`).toSorted()).toEqual([
      "custom ",
      "custom channelId",
      "invalid_format visitorId",
      "invalid_value channelId",
      "too_small userId",
      "unrecognized_keys ",
    ]);
  });
});
