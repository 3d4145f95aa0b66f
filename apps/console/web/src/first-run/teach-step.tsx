import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { FileUp, Globe, Network, PenLine } from "lucide-react";
import { useRef, useState } from "react";
import type { KbItem } from "@svc/contracts";
import { kbsQuery, ownKb } from "../api/knowledge.ts";
import { useAction } from "../forms/use-action.ts";
import { useTexts } from "../i18n/texts.ts";
import { ImportList } from "../knowledge/import-list.tsx";
import type { SourceKind } from "../knowledge/source-dialog.tsx";
import { UploadList } from "../knowledge/upload-list.tsx";
import { ACCEPTED_FILES, useUploads } from "../knowledge/upload-queue.ts";
import { useServices, useProject } from "../session/services.ts";
import { Button } from "../ui/button.tsx";
import { lazyDialog } from "../ui/lazy-dialog.tsx";
import { FileChooser, useFileDrop } from "../ui/use-file-drop.tsx";
import { countAdded, isTaught } from "./first-run-state.ts";
import { Step } from "./step.tsx";
import { useOwnKb } from "./use-own-kb.ts";

const SourceDialog = lazyDialog(async () => (await import("../knowledge/source-dialog.tsx")).SourceDialog);

function KbLink({ kb: { id, name } }: { kb: KbItem }) {
  const { t } = useTexts();
  return (
    <Link
      to="/$project/knowledge/$kbId"
      params={{ project: useProject(), kbId: id }}
      className="mt-3 inline-block rounded-sm text-sm font-medium text-accent hover:underline"
    >
      {t("firstRun.seeKb", { name })}
    </Link>
  );
}

/** Step that adds knowledge: files, a website, a web page, or a text. */
export function TeachStep({ number }: { number: number }) {
  const { t } = useTexts();
  const { connection } = useServices();
  const project = useProject();
  const kbs = useQuery(kbsQuery(connection, project));
  const findKb = useOwnKb();
  const queue = useUploads(() => findKb());
  const files = useRef<HTMLInputElement>(null);
  const [source, setSource] = useState<{ kind: SourceKind; kbId: string } | null>(null);
  const [busy, setBusy] = useState<SourceKind | null>(null);
  const { runAside } = useAction();
  const { handlers, isOver } = useFileDrop(true, (dropped) => queue.add(dropped));
  const kb = ownKb(kbs.data ?? []);
  const isDone = kbs.data === undefined ? undefined : isTaught(kbs.data);
  const isReading = kb?.status === "ingesting";

  async function open(kind: SourceKind) {
    setBusy(kind);
    await runAside(async () => setSource({ kind, kbId: await findKb() }));
    setBusy(null);
  }
  return (
    <Step
      number={number}
      title={t("firstRun.teach")}
      text={isDone !== true ? `${t("firstRun.teachText")} ${t("firstRun.onlyGuide")}` : t("firstRun.teachText")}
      isDone={isDone}
      done={t(isReading ? "firstRun.reading" : "firstRun.taught", { n: kb === undefined ? 0 : countAdded(kb) })}
    >
      <div
        {...handlers}
        className={`flex flex-wrap items-center gap-2 rounded-lg border-2 border-dashed p-3 transition-colors ${
          isOver ? "border-accent bg-accent-soft" : "border-line"
        }`}
      >
        <Button icon={FileUp} onClick={() => files.current?.click()}>
          {t("knowledge.addFiles")}
        </Button>
        <Button icon={Network} isBusy={busy === "site"} onClick={() => void open("site")}>
          {t("knowledge.addSite")}
        </Button>
        <Button icon={Globe} isBusy={busy === "page"} onClick={() => void open("page")}>
          {t("knowledge.addPage")}
        </Button>
        <Button icon={PenLine} isBusy={busy === "text"} onClick={() => void open("text")}>
          {t("knowledge.addText")}
        </Button>
        <FileChooser ref={files} accept={ACCEPTED_FILES} onFiles={queue.add} />
      </div>
      <div className="mt-3 flex flex-col gap-3 empty:hidden">
        <UploadList queue={queue} />
        {kb !== undefined && <ImportList kbId={kb.id} mayWrite />}
      </div>
      {kb !== undefined && kb.documents > 0 && <KbLink kb={kb} />}
      {source !== null && <SourceDialog {...source} onClose={() => setSource(null)} />}
    </Step>
  );
}
