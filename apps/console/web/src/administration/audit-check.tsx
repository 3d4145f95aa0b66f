import { ShieldCheck } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import type { AuditCheckItem } from "@svc/contracts";
import { useServices } from "../app/services.ts";
import type { TextKey } from "../i18n/text-table.ts";
import { useTexts } from "../i18n/use-texts.ts";
import { Button } from "../ui/button.tsx";
import { CopyBox } from "../ui/copy-box.tsx";
import { FaultNotice } from "../ui/fault-notice.tsx";
import { Notice } from "../ui/notice.tsx";

const FAULTS: Record<NonNullable<AuditCheckItem["fault"]>["kind"], TextKey> = {
  changed: "auditCheck.changed",
  missing: "auditCheck.missing",
  unlinked: "auditCheck.unlinked",
  truncated: "auditCheck.truncated",
  added: "auditCheck.added",
  unexpected: "auditCheck.unexpected",
};

/** How far a check is, and what it found in the end. */
interface Check {
  rows: number;
  /** Null while it goes on. */
  result: AuditCheckItem | null;
}

/** Checks the chain of the last 31 days of the audit trail, part by part, and says what it found. */
export function AuditCheck() {
  const { number, t } = useTexts();
  const { connection } = useServices();
  const [check, setCheck] = useState<Check | null>(null);
  const [fault, setFault] = useState<unknown>(null);
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);
  const isRunning = check !== null && check.result === null && fault === null;

  async function run() {
    const controller = new AbortController();
    running.current = controller;
    setFault(null);
    setCheck({ rows: 0, result: null });
    try {
      let rows = 0;
      for (let after: string | null = null; ;) {
        const query: { after?: string } = after === null ? {} : { after };
        const { item }: { item: AuditCheckItem } = await connection.call("verifyAudit", null, {
          query,
          signal: controller.signal,
        });
        rows += item.rows;
        const isOver = item.next === null || item.fault !== null;
        setCheck({ rows, result: isOver ? item : null });
        if (isOver) return;
        after = item.next;
      }
    } catch (cause) {
      // Who has left the page asks for nothing more.
      if (!controller.signal.aborted) setFault(cause);
    }
  }

  const result = check?.result ?? null;
  return (
    <div className="mb-4 flex flex-col gap-3">
      <Button className="self-start" isBusy={isRunning} onClick={() => void run()}>
        <ShieldCheck aria-hidden className="size-4" />
        {t("auditCheck.run")}
      </Button>
      <div aria-live="polite" className="flex flex-col gap-2 empty:hidden">
        {isRunning && <p className="text-sm text-muted">{t("auditCheck.running", { n: check.rows })}</p>}
        {fault !== null && <FaultNotice fault={fault} onRetry={() => void run()} />}
        {result !== null && result.fault === null && (
          <Notice>
            <p>{t("auditCheck.intact", { n: check?.rows ?? 0 })}</p>
            {result.head !== null && (
              <div className="mt-2">
                <p className="mb-1 text-xs text-muted">
                  {t("auditCheck.keep", { command: "svc audit verify --expect" })}
                </p>
                <CopyBox label={t("auditCheck.head")} text={result.head} isWrapped />
              </div>
            )}
          </Notice>
        )}
        {result !== null && result.fault !== null && (
          <Notice look="bad">
            <p className="font-medium">{t(FAULTS[result.fault.kind])}</p>
            <p>{t("auditCheck.place", { day: result.fault.day, number: number(result.fault.number) })}</p>
            <p className="text-xs text-muted">{result.fault.detail}</p>
          </Notice>
        )}
      </div>
    </div>
  );
}
