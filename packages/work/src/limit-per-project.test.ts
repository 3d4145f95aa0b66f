import { expect, test } from "@jest/globals";
import { limitPerProject } from "./limit-per-project.ts";

/** Work that runs until the test ends it, and what has started so far. */
function heldWork() {
  const begun: string[] = [];
  const ends = new Map<string, { resolve: () => void; reject: (error: Error) => void }>();
  const work = ({ ticketId }: { ticketId: string }) => {
    begun.push(ticketId);
    return new Promise<void>((resolve, reject) => ends.set(ticketId, { resolve, reject }));
  };
  return { begun, ends, work };
}

const job = (project: string, ticketId: string) => ({ project, ticketId });

test("a project at its limit does not occupy the worker slots of others", async () => {
  const { begun, ends, work } = heldWork();
  const consume = limitPerProject(work, 2);
  const running = [consume(job("a", "1")), consume(job("a", "2"))];
  // These end at once: they wait in memory.
  await Promise.all([consume(job("a", "3")), consume(job("a", "4")), consume(job("a", "3"))]);
  running.push(consume(job("b", "5")));
  expect(begun).toEqual(["1", "2", "5"]);
  ends.get("1")?.resolve();
  await Promise.resolve();
  while (begun.length < 4) await Promise.resolve();
  expect(begun).toEqual(["1", "2", "5", "3"]);
  for (const id of ["2", "3", "5"]) ends.get(id)?.resolve();
  while (!ends.has("4")) await Promise.resolve();
  ends.get("4")?.resolve();
  await Promise.all(running);
  expect(begun).toEqual(["1", "2", "5", "3", "4"]);
});

test("an error of one job does not stop those that wait, and is reported", async () => {
  const { begun, ends, work } = heldWork();
  const consume = limitPerProject(work, 1);
  const first = consume(job("a", "1"));
  await consume(job("a", "2"));
  ends.get("1")?.reject(new Error("service unavailable"));
  while (!ends.has("2")) await Promise.resolve();
  ends.get("2")?.resolve();
  await expect(first).rejects.toThrow("service unavailable");
  expect(begun).toEqual(["1", "2"]);
  const again = consume(job("a", "1"));
  ends.get("1")?.resolve();
  await again;
});
