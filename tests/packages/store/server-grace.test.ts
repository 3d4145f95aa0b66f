import { expect, test } from "@jest/globals";
import { newId, openStore } from "@svc/store";
import { migrateTestDatabase, startPostgres, testLog, waitFor, queryDatabase } from "@svc/testing";
import { LIMITS, SECRET_KEY, exchange, newMessage, textsOf } from "./open-test-store.ts";

test("after a start of the database all processes get time to reconnect, however long the outage was", async () => {
  const postgres = await startPostgres();
  await migrateTestDatabase(postgres.url);
  const store = openStore({ url: postgres.url, secretKey: SECRET_KEY, log: testLog() });
  const sql = (text: string, values: unknown[] = []) =>
    queryDatabase<{ is_young: boolean }>(postgres.url, text, values);
  try {
    const { id: project } = (await store.projects.ensure("shop")).project;
    const [holder, witness] = [newId(), newId()];
    for (const id of [holder, witness]) await store.instances.beat(id, "api");
    const call = newMessage({ mode: "sync", callInstance: holder });
    const { ticketId } = (await exchange(store, project, call, ["answer"])).accepted;
    await sql("UPDATE instances SET alive_until = now() - interval '1 hour' WHERE id = $1", [holder]);
    // A process that would count as a witness if the database had not just restarted.
    const isSteady = "alive_since = now() - interval '1 hour', alive_until = now() + interval '1 hour'";
    await sql(`UPDATE instances SET ${isSteady} WHERE id = $1`, [witness]);
    const free = async () => textsOf((await store.replies.readBuffer(project, ticketId, 0, LIMITS)).replies);
    const freeAfterStart = await waitFor(
      async () => {
        await postgres.kill("SIGQUIT");
        await postgres.start();
        const texts = await waitFor(() => free().catch(() => null), { what: "the store to be reached" });
        // If that took too long, the result is meaningless.
        const isYoung = "SELECT now() < pg_postmaster_start_time() + interval '5 seconds' AS is_young";
        return (await sql(isYoung))[0]?.is_young ? texts : null;
      },
      { what: "a look within five seconds of the start" },
    );
    expect(freeAfterStart).toEqual([]);
    await waitFor(async () => (await free()).length === 1, { what: "the dead to be told from the living" });
  } finally {
    await store.close();
    await postgres.stop();
  }
});
