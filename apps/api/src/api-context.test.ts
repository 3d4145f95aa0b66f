import { describe, expect, test } from "@jest/globals";
import { ServiceError } from "@svc/contracts";
import { collectLog, testLog } from "@svc/testing";
import { createPersister } from "./api-context.ts";

const unavailable = () => Promise.reject(new ServiceError("unavailable", "service unavailable"));

describe("work to persist", () => {
  test("is retried until the store accepts it", async () => {
    const persister = createPersister(testLog());
    let attempts = 0;
    await persister.persist("a note", () => (++attempts < 3 ? unavailable() : Promise.resolve()));
    expect(attempts).toBe(3);
  });

  test("is completed before close resolves", async () => {
    const persister = createPersister(testLog());
    let write: () => void = () => undefined;
    let isWritten = false;
    void persister.persist("a note", async () => {
      await new Promise<void>((resolve) => {
        write = resolve;
      });
      isWritten = true;
    });
    const closed = persister.close();
    write();
    await closed;
    expect(isWritten).toBe(true);
  });

  test("is attempted only once after close while the store is unavailable, with a log entry", async () => {
    const { log, lines } = collectLog();
    const persister = createPersister(log);
    await persister.close();
    let attempts = 0;
    await persister.persist("a note", () => {
      attempts++;
      return unavailable();
    });
    expect(attempts).toBe(1);
    expect(lines()).toEqual([expect.objectContaining({ level: "warn", msg: "a note abandoned" })]);
  });

  test("is retried after another error, such as a deadlock", async () => {
    const persister = createPersister(testLog(), { retryMs: 0 });
    let attempts = 0;
    await persister.persist("a note", () =>
      ++attempts < 5 ? Promise.reject(new Error("deadlock detected")) : Promise.resolve(),
    );
    expect(attempts).toBe(5);
  });

  test("is given up after ten other errors, with a log entry", async () => {
    const { log, lines } = collectLog();
    const persister = createPersister(log, { retryMs: 0 });
    await persister.persist("a note", () => Promise.reject(new Error("no such table")));
    expect(lines()).toEqual([expect.objectContaining({ level: "error", msg: "a note failed" })]);
    await persister.close();
  });
});
