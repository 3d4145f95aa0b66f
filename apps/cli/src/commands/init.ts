import { join } from "node:path";
import type { SchemaState } from "@svc/store";
import { defineCommand } from "../define-command.ts";
import { flag } from "../options.ts";
import { handOutSecret } from "../private-files.ts";
import { renderFacts } from "../render-table.ts";
import type { Database } from "../with-resources.ts";

/** Returns what is shown of the administrator's key, which is created if there is none. */
function describeKey(key: { shown: string; isInFile: boolean } | null, isConfigured: boolean): string {
  if (key !== null) {
    const advice = key.isInFile
      ? "in this file: store it elsewhere and delete the file"
      : "shown only once: store it safely";
    return `${key.shown}\n(${advice})`;
  }
  return isConfigured ? "the key in SVC_ADMIN_KEY" : "already exists";
}

/** `svc init`: server initialisation (service document, "Enabling the HTTP API channel"). */
export const init = defineCommand({
  options: { wait: flag("--wait", "wait until PostgreSQL is reachable, as services do") },
  about: `Migrates the database, creates the project "default" with an agent and the product's guide, creates an administrator's
key (shown once, or written to a file in the data folder if standard output is not a terminal; if SVC_ADMIN_KEY is set,
that key is used instead), and enables the HTTP API. Safe to repeat: existing objects stay unchanged.
"{start}" does all of this automatically.`,
  examples: ["DATABASE_URL=postgres://svc@db/svc SVC_SECRET_KEY_FILE=/run/secrets/svc {svc} init", "init --json"],
  async run(cli, { wait }) {
    const { terminal } = cli;
    const { findGuideDir, withResources } = await import("../with-resources.ts");
    const { migrateAll, waitForStore } = await import("@svc/runtime");
    const { initialize } = await import("@svc/operations");
    const guideDir = await findGuideDir();
    const prepare = async ({ config, log }: Database) => {
      const say = { warn: (_fields: object, text: string) => terminal.note(text) };
      if (wait === true) await waitForStore(config.databaseUrl, say);
      await migrateAll(config.directUrl, log);
    };
    await withResources(cli, { mayCreate: true, prepare }, async (resources) => {
      const configuredAdminKey = resources.config.adminKey;
      const { project, adminKey, isFirst } = await initialize(resources, {
        configuredAdminKey,
        guideDir,
        // Marked as shown only after the output: the next run replaces a key that was lost.
        showsKey: false,
      });
      const file = join(resources.config.dataDir, "admin-key");
      const key = adminKey === null ? null : await handOutSecret(terminal, adminKey, file);
      if (key !== null) await resources.store.installation.markAdminKeyShown();
      const { enabled } = await resources.store.channelsConfig.read();
      const document = { ok: true, isFirst, project: { id: project.id, name: project.name }, adminKey, enabled };
      terminal.show(document, () =>
        renderFacts([
          ["Initialisation", isFirst ? "done" : "already done; nothing was changed"],
          ["Project", project.name],
          ["HTTP API", enabled.includes("api") ? "enabled" : "disabled (by an administrator)"],
          ["Administrator's key", describeKey(key, configuredAdminKey !== undefined)],
        ]),
      );
    });
  },
});

const OUTCOMES: Record<SchemaState, string> = {
  older: "The database schema was migrated to this version.",
  current: "The database schema is already up to date.",
  newer: "The database schema is newer than this version; nothing was changed. Finish the upgrade.",
};

/** `svc migrate`: migrates the schema of the store and of the queues to this version. */
export const migrate = defineCommand({
  about: `Migrates forward only. Safe to repeat and to run from several machines at once. Run it before the apps of a new version
start; "{start}" does it automatically.`,
  examples: ["DATABASE_URL=postgres://svc@db/svc SVC_SECRET_KEY_FILE=/run/secrets/svc {svc} migrate", "migrate --json"],
  async run(cli) {
    const { withDatabase } = await import("../with-resources.ts");
    const { migrateAll } = await import("@svc/runtime");
    const { readSchemaState } = await import("@svc/store");
    await withDatabase(cli, { mayCreate: true }, async ({ config, log, origin }) => {
      const before = await readSchemaState(config.directUrl);
      await migrateAll(config.directUrl, log);
      const after = await readSchemaState(config.directUrl);
      cli.terminal.show({ ok: true, database: origin, before, after }, () => OUTCOMES[before]);
    });
  },
});

/** `svc doctor`: checks everything that the product needs, and shows how to fix problems. */
export const doctor = defineCommand({
  about: "Changes nothing. Works whether or not the service is running. The exit code is 1 if a check fails.",
  examples: ["doctor", "doctor --json"],
  async run(cli) {
    const { runDoctor } = await import("../doctor/run-doctor.ts");
    await runDoctor(cli);
  },
});
