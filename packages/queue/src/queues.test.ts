import { expect, test } from "@jest/globals";
import type { IncomingJob, ReplyJob } from "@svc/contracts";
import { bundleJobs, jobsOf } from "./queues.ts";

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
    const bundles = bundleJobs(name, jobs);
    expect(bundles).toHaveLength(3);
    expect(new Set(bundles.map(({ id }) => id)).size).toBe(3);
    expect(bundles[0]?.data).toMatchObject(eventOfTicket(0));
    expect(bundles.flatMap(({ data }) => jobsOf(data as ReplyJob))).toEqual(jobs.map(({ data }) => data));
  },
);

test("messages that are new share jobs of 8; those behind a backlog only with their project, at its lowest priority value", () => {
  const jobs = jobsFor(40).map((job, number) => {
    // The one with the lowest priority comes last.
    const backlog = number % 2 === 0 ? {} : { priority: 200 - number };
    const project = number % 4 < 2 ? "flooding" : "other";
    return { ...job, data: { ...job.data, project, ...backlog }, mayShare: true, ...backlog };
  });
  const bundles = bundleJobs("incoming-messages", jobs);
  const shapes = bundles.map(({ priority, data }) => {
    const carried = jobsOf(data as IncomingJob);
    return [priority, new Set(carried.map((one) => one.project)).size, carried.length];
  });
  expect(shapes).toEqual([
    [undefined, 2, 8],
    [undefined, 2, 8],
    [undefined, 2, 4],
    [163, 1, 8],
    [195, 1, 2],
    [161, 1, 8],
    [193, 1, 2],
  ]);
  const all = bundles.flatMap(({ data }) => jobsOf(data as IncomingJob));
  expect(new Set(all)).toEqual(new Set(jobs.map(({ data }) => data)));
});

test("a job alone stays as it is, and so does each of a channel that pushes", () => {
  expect(bundleJobs("replies-api", jobsFor(1))).toEqual(jobsFor(1));
  expect(bundleJobs("replies-messenger", jobsFor(3))).toEqual(jobsFor(3));
  expect(bundleJobs("incoming-messages", jobsFor(3))).toEqual(jobsFor(3));
});
