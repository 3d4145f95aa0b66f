import { describe, expect, test } from "@jest/globals";
import type { TicketItem } from "@svc/contracts";
import type { TicketNews } from "../api/live.ts";
import type { ListNews } from "./follow-list.ts";
import { mergeHead } from "./merge-head.ts";

const ticket = (id: string, version = 1): TicketItem => ({
  id,
  homeProject: "default",
  project: "default",
  channelId: "api",
  chatId: id,
  userId: null,
  customer: null,
  origin: null,
  subject: id,
  status: "open",
  stage: "review",
  priority: "normal",
  assignee: null,
  agentId: null,
  confidence: null,
  language: null,
  tags: [],
  channel_meta: {},
  version,
  createdAt: "2026-01-01T00:00:00.000Z",
  updatedAt: "2026-01-01T00:00:00.000Z",
  firstReplyAt: null,
  resolvedAt: null,
});
const tickets = (...ids: string[]) => ids.map((id) => ticket(id));
const idsOf = ({ items }: { items: TicketItem[] }) => items.map(({ id }) => id);
const newsIn = (project: string, ...ids: string[]) =>
  new Map<string, TicketNews>(
    ids.map((ticketId) => [
      ticketId,
      {
        ticketId,
        project,
        version: 2,
        status: "resolved",
        stage: "done",
        assignee: null,
        actor: "x",
        what: [],
        mentions: [],
      },
    ]),
  );

const newsOf = (...ids: string[]): ListNews => ({ tickets: newsIn("default", ...ids), gone: new Map() });

describe("a list of tickets whose head was read anew", () => {
  const list = { items: tickets("a", "b", "c", "d"), nextCursor: "more" };

  test("has what is new at its head and each ticket once", () => {
    const merged = mergeHead(
      list,
      { items: tickets("c", "a"), nextCursor: "head", isWhole: false },
      { project: "default", news: newsOf("c") },
    );
    expect(idsOf(merged)).toEqual(["c", "a", "b", "d"]);
    expect(merged.nextCursor).toBe("more");
  });

  test("loses what has changed and is not in the head: it belongs to another view now", () => {
    const merged = mergeHead(
      list,
      { items: tickets("a", "b"), nextCursor: "head", isWhole: false },
      { project: "default", news: newsOf("d") },
    );
    expect(idsOf(merged)).toEqual(["a", "b", "c"]);
  });

  test("keeps the place of what has changed where it is in another order, as the news say it is", () => {
    const merged = mergeHead(
      list,
      { items: tickets("a", "b"), nextCursor: "head", isWhole: false },
      { project: "default", news: newsOf("d"), sort: "priority" },
    );
    expect(idsOf(merged)).toEqual(["a", "b", "c", "d"]);
    expect(merged.items[3]).toMatchObject({ status: "resolved", stage: "done", version: 2 });
  });

  test("keeps what is newer than the news", () => {
    const newer = { ...list, items: [...tickets("a"), ticket("d", 9)] };
    const merged = mergeHead(
      newer,
      { items: tickets("a"), nextCursor: "head", isWhole: false },
      { project: "default", news: newsOf("d"), sort: "priority" },
    );
    expect(merged.items[1]).toMatchObject({ status: "open", version: 9 });
  });

  test("is the head where that is all there is, or where nothing is left of the list", () => {
    expect(
      idsOf(
        mergeHead(
          list,
          { items: tickets("d"), nextCursor: null, isWhole: false },
          { project: "default", news: newsOf() },
        ),
      ),
    ).toEqual(["d"]);
    expect(
      idsOf(
        mergeHead(
          list,
          { items: tickets("x", "y"), nextCursor: "n", isWhole: false },
          { project: "default", news: newsOf() },
        ),
      ),
    ).toEqual(["x", "y"]);
  });

  test("is what was read where all that was loaded was read: what has gone unnoticed is not in it", () => {
    const read = { items: tickets("x", "b", "d"), nextCursor: "after d", isWhole: true };
    const merged = mergeHead(list, read, { project: "default", news: newsOf() });
    expect([idsOf(merged), merged.nextCursor]).toEqual([["x", "b", "d"], "after d"]);
  });

  test("loses what another project has now, wherever it stands", () => {
    const head = { items: tickets("a"), nextCursor: "head", isWhole: false };
    const gone = new Map([["c", "default"]]);
    const inNoSight = { project: "default", news: { tickets: new Map(), gone } };
    expect(idsOf(mergeHead(list, head, inNoSight))).toEqual(["a", "b", "d"]);
    const inSight = { project: "default", sort: "priority", news: { tickets: newsIn("north", "c"), gone } };
    expect(idsOf(mergeHead(list, head, inSight))).toEqual(["a", "b", "d"]);
    // In a list of all projects it has only another project.
    const ofAll = mergeHead(list, head, { ...inSight, project: null });
    expect(ofAll.items.map(({ id, project }) => `${id} ${project}`)).toEqual([
      "a default",
      "b default",
      "c north",
      "d default",
    ]);
    expect(idsOf(mergeHead(list, head, { ...inNoSight, project: null }))).toEqual(["a", "b", "d"]);
  });
});
