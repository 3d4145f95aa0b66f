import { expect, test } from "@jest/globals";
import { validate, v5, version } from "uuid";
import { asProjectId, newId, ticketIdOf } from "./ids.ts";

test("new ids are UUIDs of version 7, different, and in the order in which a process makes them", () => {
  const ids = Array.from({ length: 5_000 }, newId);
  expect(ids.every((id) => validate(id) && version(id) === 7)).toBe(true);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.toSorted()).toEqual(ids);
  const madeAt = Number.parseInt((ids[0] ?? "").replaceAll("-", "").slice(0, 12), 16);
  expect(Math.abs(Date.now() - madeAt)).toBeLessThan(60_000);
});

test.each(["42", "Größe 🚚", ""])(
  "the ticket id of the chat %j is the UUID v5 of project, channel and chat",
  (chatId) => {
    const project = asProjectId("0198c0de-0000-7000-8000-000000000001");
    const name = JSON.stringify([project, "api", chatId]);
    expect(ticketIdOf(project, "api", chatId)).toBe(v5(name, "5f6ac4f1-8a6e-5c0b-9d55-3f0c8a1d7e42"));
  },
);
