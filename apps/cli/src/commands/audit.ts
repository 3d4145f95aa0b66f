import type { AuditItem } from "@svc/contracts";
import { asAdministrator } from "../as-administrator.ts";
import { EXIT } from "../cli.ts";
import { defineCommand } from "../define-command.ts";
import { defineList } from "../define-resource.ts";
import { option } from "../options.ts";
import { toSecond } from "../render-table.ts";
import { safeLine } from "../terminal.ts";
import type { Paint } from "../terminal.ts";

const OBJECT_CHARS = 120;

function describeEvent({ actor, action, object, requestId, count, network }: AuditItem, { dim }: Paint): string {
  return [
    `${safeLine(action)}${count === 1 ? "" : ` (${count} times)`} by ${safeLine(actor)}`,
    ...(object === null ? [] : [`on ${safeLine(object, OBJECT_CHARS)}`]),
    ...(network === null ? [] : [dim(`from ${safeLine(network)}`)]),
    ...(requestId === null ? [] : [dim(`request ${safeLine(requestId)}`)]),
  ].join("\n");
}

const list = defineList({
  path: "audit list",
  isOfProject: false,
  isPaged: true,
  description: "list audit events, newest first",
  options: {
    project: option("--project <name>", "only events of this project (default: all)"),
    actor: option("--actor <actor>", "actor: key:<id>, command-line, anonymous …"),
    action: option("--action <action>", "action: agents.create, key.use, http.denied …"),
    object: option("--object <object>", "object: an ID, a channel, or the route of a denied request"),
    result: option("--result <result>", "ok, or an error code"),
    from: option("--from <time>", "start, inclusive: a date or time (UTC)"),
    to: option("--to <time>", "end, exclusive: a date or time (UTC)"),
  },
  examples: [
    "audit list",
    "audit list --action http.denied --from 2026-11-21",
    "audit list --project shop --result insufficient_scope --json",
  ],
  read: ({ listAuditEvents }, { project, actor, action, object, result, from, to, limit, cursor }) =>
    listAuditEvents({ project, actor, action, object, result, from, to, limit, cursor }),
  columns: ["TIME", "PROJECT", "RESULT", "EVENT"],
  row: (event, paint) => [
    toSecond(event.at),
    safeLine(event.project ?? "-"),
    event.result === "ok" ? paint.green("ok") : paint.red(safeLine(event.result)),
    describeEvent(event, paint),
  ],
  empty: "No matching events.",
});

const verify = defineCommand({
  description: "verify that no event was changed, deleted, inserted or moved",
  options: {
    from: option("--from <day>", "first day, as in 2026-11-21 (default: the first event)"),
    to: option("--to <day>", "last day (default: the last event)"),
    expect: option("--expect <head>", "head printed by an earlier check; its event must still exist, unchanged"),
  },
  about: `Each event contains a SHA-256 of itself and of the previous event. The hash of the last event is printed as the head.
Store it outside of the database and pass it with --expect next time, because the owner of the database could rewrite
all events. The exit code is 1 if the chain is broken.`,
  examples: [
    "audit verify",
    'audit verify --expect "$(cat audit-head.txt)"',
    "audit verify --from 2026-11-01 --to 2026-11-30 --json",
  ],
  async run(cli, { from, to, expect }) {
    const item = await asAdministrator(cli, undefined, async (_operations, { principal, resources: { store } }) => {
      const { verifyAudit } = await import("@svc/operations");
      return verifyAudit({ store, isUnlimited: true }, principal, { from, to, expect });
    });
    const { isIntact, rows, head, fault: error } = item;
    if (!isIntact) cli.setExitCode(EXIT.failed);
    cli.terminal.show({ ok: isIntact, item }, () => {
      const { red, green } = cli.terminal.paint;
      const found = `${rows} ${rows === 1 ? "row" : "rows"}`;
      const lines =
        error === null
          ? [`${green("intact")}: ${found}`]
          : [
              `${red("broken")} at number ${error.number} of ${error.day}${error.id === null ? "" : ` (row ${error.id})`}: ${error.detail}`,
              `Before that: ${found}`,
            ];
      return [...lines, ...(head === null ? [] : [`Head: ${head}`])].join("\n");
    });
  },
});

/** `svc audit`: completed and denied operations, and whether the audit log is complete and unchanged. */
export const audit = defineCommand({ commands: { list, verify } });
