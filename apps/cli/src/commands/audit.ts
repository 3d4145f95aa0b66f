import type { AuditItem } from "@svc/contracts";
import { listAuditEvents, verifyAudit } from "@svc/operations";
import { EXIT } from "../cli-error.ts";
import { defineCommand } from "../define-command.ts";
import { cursorOption, limitOption, option } from "../options.ts";
import { nextPage, renderTable, toSecond } from "../render-table.ts";
import { optionWords, safeLine } from "../safe-text.ts";
import type { Terminal } from "../terminal.ts";
import { asAdministrator } from "../with-resources.ts";

const OBJECT_CHARS = 120;

function renderEvents(items: readonly AuditItem[], { paint, width }: Terminal): string {
  const { green, red, dim } = paint;
  const rows = items.map(({ at, actor, action, object, project, result, requestId, count, network }) => [
    toSecond(at),
    safeLine(project ?? "-"),
    result === "ok" ? green("ok") : red(safeLine(result)),
    [
      `${safeLine(action)}${count === 1 ? "" : ` (${count} times)`} by ${safeLine(actor)}`,
      ...(object === null ? [] : [`on ${safeLine(object, OBJECT_CHARS)}`]),
      ...(network === null ? [] : [dim(`from ${safeLine(network)}`)]),
      ...(requestId === null ? [] : [dim(`request ${safeLine(requestId)}`)]),
    ].join("\n"),
  ]);
  return renderTable(["TIME", "PROJECT", "RESULT", "EVENT"], rows, width);
}

const list = defineCommand({
  description: "list audit events, newest first",
  options: {
    project: option("--project <name>", "only events of this project (default: all)"),
    actor: option("--actor <actor>", "actor: key:<id>, command-line, anonymous …"),
    action: option("--action <action>", "action: agents.create, key.use, http.denied …"),
    object: option("--object <object>", "object: an ID, a channel, or the route of a denied request"),
    result: option("--result <result>", "ok, or an error code"),
    from: option("--from <time>", "start, inclusive: a date or time (UTC)"),
    to: option("--to <time>", "end, exclusive: a date or time (UTC)"),
    limit: limitOption,
    cursor: cursorOption,
  },
  examples: [
    "audit list",
    "audit list --action http.denied --from 2026-11-21",
    "audit list --project shop --result insufficient_scope --json",
  ],
  async run(cli, { project, actor, action, object, result, from, to, limit, cursor }) {
    const filters = { project, actor, action, object, result, from, to };
    const { items, nextCursor } = await asAdministrator(cli, undefined, (principal, { store }) =>
      listAuditEvents({ store }, principal, { ...filters, limit, cursor }),
    );
    cli.terminal.show({ ok: true, items, nextCursor }, () => {
      if (items.length === 0) return "No matching events.";
      const command = `audit list ${optionWords({ ...filters, limit })}`;
      return renderEvents(items, cli.terminal) + nextPage(cli, command, nextCursor);
    });
  },
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
    const item = await asAdministrator(cli, undefined, (principal, { store }) =>
      verifyAudit({ store, isUnlimited: true }, principal, { from, to, expect }),
    );
    const { isIntact, rows, head, fault } = item;
    if (!isIntact) cli.setExitCode(EXIT.failed);
    cli.terminal.show({ ok: isIntact, item }, () => {
      const { red, green } = cli.terminal.paint;
      const found = `${rows} ${rows === 1 ? "row" : "rows"}`;
      const lines =
        fault === null
          ? [`${green("intact")}: ${found}`]
          : [
              `${red("broken")} at number ${fault.number} of ${fault.day}${fault.id === null ? "" : ` (row ${fault.id})`}: ${fault.detail}`,
              `Before that: ${found}`,
            ];
      return [...lines, ...(head === null ? [] : [`Head: ${head}`])].join("\n");
    });
  },
});

/** `svc audit`: what was done and what was denied, and whether the audit log is complete and unchanged. */
export const audit = defineCommand({ usage: "<list|verify> [options]", commands: { list, verify } });
