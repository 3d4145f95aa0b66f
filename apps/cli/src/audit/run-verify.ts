import { verifyAudit } from "@svc/operations";
import type { Cli } from "../cli.ts";
import { EXIT } from "../exit-codes.ts";
import { localPrincipal } from "../local-principal.ts";
import { withResources } from "../with-resources.ts";

/** What `audit verify` is told. */
export interface VerifyOptions {
  from?: string;
  to?: string;
  expect?: string;
}

/** `svc audit verify`: whether the audit trail is as it was written. A broken chain ends with exit code 1. */
export async function runVerify(cli: Cli, options: VerifyOptions): Promise<void> {
  const { from, to, expect } = options;
  const item = await withResources(cli, {}, async ({ store }) =>
    verifyAudit({ store }, await localPrincipal(store), { from, to, expect }, { isUnlimited: true }),
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
}
