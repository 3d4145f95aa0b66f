import { join } from "node:path";
import type { Command } from "commander";
import type { Cli } from "../cli.ts";
import { jsonOption } from "../options.ts";

/** What is shown of the administrator's key, which is made where there is none. */
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
export function addInit(program: Command, cli: Cli): void {
  program
    .command("init")
    .description("set up a server: database schema, project, administrator's key, HTTP API")
    .option("--wait", "wait until PostgreSQL is reachable, as services do")
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
Migrates the database, creates the project "default" with an agent and the product's guide, creates an administrator's
key (shown once, or written to a file in the data folder if standard output is not a terminal; if SVC_ADMIN_KEY is set,
that key is used instead), and enables the HTTP API. Safe to repeat: existing objects stay unchanged.
"${cli.startWith}" does all of this automatically.
Examples:
  DATABASE_URL=postgres://svc@db/svc SVC_SECRET_KEY_FILE=/run/secrets/svc ${cli.self} init
  ${cli.self} init --json`,
    )
    .action(async ({ wait }: { wait?: true }) => {
      const [{ withResources }, { migrateAll, waitForStore }, { initialize }, { GUIDE_DIR }, { renderFacts }] =
        await Promise.all([
          import("../with-resources.ts"),
          import("@svc/runtime"),
          import("@svc/operations"),
          import("@svc/standalone"),
          import("../render-facts.ts"),
        ]);
      await withResources(
        cli,
        {
          mayCreate: true,
          prepare: async ({ config, log }) => {
            const say = { warn: (_fields: object, text: string) => cli.terminal.note(text) };
            if (wait) await waitForStore(config.databaseUrl, say);
            await migrateAll(config.databaseUrl, log);
          },
        },
        async (resources) => {
          const configuredAdminKey = resources.config.adminKey;
          const { project, adminKey, isFirst } = await initialize(resources, {
            configuredAdminKey,
            guideDir: GUIDE_DIR,
            // Not before it has been handed out: the next run makes another one in the place of one that was lost.
            showsKey: false,
          });
          const { handOutSecret } = await import("../hand-out-secret.ts");
          const file = join(resources.config.dataDir, "admin-key");
          const key = adminKey === null ? null : await handOutSecret(cli.terminal, adminKey, file);
          if (key !== null) await resources.store.installation.markAdminKeyShown();
          const { enabled } = await resources.store.channelsConfig.read();
          const document = { ok: true, isFirst, project: { id: project.id, name: project.name }, adminKey, enabled };
          cli.terminal.show(document, () =>
            renderFacts([
              ["Initialisation", isFirst ? "done" : "already done; nothing was changed"],
              ["Project", project.name],
              ["HTTP API", enabled.includes("api") ? "enabled" : "disabled (by an administrator)"],
              ["Administrator's key", describeKey(key, configuredAdminKey !== undefined)],
            ]),
          );
        },
      );
    });
}
