import { expect, test } from "@jest/globals";
import type { ReplyJob } from "@svc/contracts";
import { bundleReplies, jobsOf } from "./queues.ts";

const eventOfTicket = (number: number): ReplyJob => ({
  project: "project",
  ticketId: `ticket-${number}`,
  messageId: `message-${number}`,
  mode: "sync",
  fromSeq: 2,
  toSeq: 2,
});
const jobsFor = (count: number) =>
  Array.from({ length: count }, (_, number) => ({ id: `job-${number}`, data: eventOfTicket(number) }));

test.each(["replies-api", "replies-widget"] as const)(
  "news for %s is bundled, all of it is found again, and a version that knows no bundles reads the first",
  (name) => {
    const jobs = jobsFor(250);
    const bundles = bundleReplies(name, jobs);
    expect(bundles).toHaveLength(3);
    expect(new Set(bundles.map(({ id }) => id)).size).toBe(3);
    expect(bundles[0]?.data).toMatchObject(eventOfTicket(0));
    expect(bundles.flatMap(({ data }) => jobsOf(data as ReplyJob))).toEqual(jobs.map(({ data }) => data));
  },
);

test("a job alone stays as it is, and so does each of a channel that pushes", () => {
  expect(bundleReplies("replies-api", jobsFor(1))).toEqual(jobsFor(1));
  expect(bundleReplies("replies-messenger", jobsFor(3))).toEqual(jobsFor(3));
  expect(bundleReplies("incoming-messages", jobsFor(3))).toEqual(jobsFor(3));
});
