import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { Store } from "@svc/store";
import { testLog, waitFor } from "@svc/testing";
import { startTicketIndex } from "../../../apps/pipeline/src/index-tickets.ts";
import { exchange, newMessage, openTestStore } from "../store/open-test-store.ts";
import type { TestStore } from "../store/open-test-store.ts";

let db: TestStore;

beforeAll(async () => {
  db = await openTestStore();
});

afterAll(() => db.close());

test("a replica indexes the words of the changes that it follows, without the polling for those of others", async () => {
  const project = await db.newProject();
  const find = async (word: string) => {
    const words = { words: [word], beginning: null };
    const query = { sort: "-createdAt", limit: 10, after: undefined, words } as const;
    return (await db.store.ticketList.listPage(project, query)).tickets;
  };
  let emptyReads = 0;
  const ticketTexts: Store["ticketTexts"] = {
    ...db.store.ticketTexts,
    async indexNext(wordsOf) {
      const hasIndexed = await db.store.ticketTexts.indexNext(wordsOf);
      if (!hasIndexed) emptyReads += 1;
      return hasIndexed;
    },
  };
  const index = startTicketIndex(
    { store: { ...db.store, ticketTexts }, mailer: null, log: testLog() },
    { isBusy: () => false, wordsPollMs: Number.POSITIVE_INFINITY },
  );
  try {
    await waitFor(() => emptyReads > 0, { what: "the step that polls, which runs once" });
    await exchange(db.store, project, newMessage({ text: "Where is my parcel?" }), ["It is on its way."]);
    await waitFor(async () => (await find("parcel")).length === 1, { what: "the ticket" });
  } finally {
    await index.stop();
  }
  expect(await find("way")).toHaveLength(1);
});
