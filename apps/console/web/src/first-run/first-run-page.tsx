import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { ChevronRight, FileUp, Globe, Network, PenLine } from "lucide-react";
import { useRef, useState } from "react";
import type { KbItem } from "@svc/contracts";
import { channelOf, keysQuery } from "../api/administration.ts";
import { kbsQuery, ownKb } from "../api/knowledge.ts";
import { useAction } from "../forms/use-settings-form.ts";
import { useTexts } from "../i18n/texts.ts";
import { StateLine } from "../integrations/channel-state.tsx";
import { INTEGRATIONS } from "../integrations/integrations.ts";
import { useChannels } from "../integrations/use-channel.ts";
import { ImportList, UploadList } from "../knowledge/import-list.tsx";
import type { SourceKind } from "../knowledge/source-dialog.tsx";
import { ACCEPTED_FILES, useUploads } from "../knowledge/upload-queue.ts";
import { useProject, useRights, useServices, useSession } from "../session/services.ts";
import { Button } from "../ui/button.tsx";
import { lazyDialog } from "../ui/dialog.tsx";
import { ErrorNotice } from "../ui/notice.tsx";
import { PageFrame } from "../ui/page-frame.tsx";
import { FileChooser, useFileDrop } from "../ui/use-file-drop.tsx";
import { countAdded, isReachable, isTaught, skipFirstRun } from "./first-run-state.ts";
import { Step, TestStep } from "./test-step.tsx";
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
function TeachStep({ number }: { number: number }) {
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

const FOLLOW_MS = 3_000;
/** The channels; the API last, because it requires a developer. */
const SHOWN = INTEGRATIONS.filter(({ id }) => id !== "tool-server").toSorted(
  (one, other) => Number(one.id === "api") - Number(other.id === "api"),
);

/** The channels that customers can use. Each one is set up on its own page. */
function ChannelStep({ number }: { number: number }) {
  const { t } = useTexts();
  const { connection } = useServices();
  const project = useProject();
  const mayDo = useRights();
  const channels = useChannels();
  const keys = useQuery({ ...keysQuery(connection), enabled: mayDo("admin:*"), refetchInterval: FOLLOW_MS });
  const known = channels.data;
  return (
    <Step
      number={number}
      title={t("firstRun.channel")}
      text={t("firstRun.channelText")}
      isDone={known === undefined ? undefined : isReachable(known, keys.data ?? [])}
      done={t("firstRun.channelDone")}
    >
      {channels.isError && known === undefined && (
        <ErrorNotice error={channels.error} onRetry={() => void channels.refetch()} />
      )}
      <ul className="grid gap-2 sm:grid-cols-3">
        {SHOWN.map(({ icon: Icon, id, title }) => {
          const channel = known === undefined ? undefined : channelOf(known, id);
          return (
            <li
              key={id}
              className="relative flex flex-col gap-1.5 rounded-lg border border-line p-3 transition-colors hover:border-edge"
            >
              <p className="flex items-center gap-2 text-sm font-medium">
                <Icon aria-hidden className="size-4 shrink-0 text-accent" />
                <Link
                  to="/$project/integrations/$integration"
                  params={{ project, integration: id }}
                  className="min-w-0 flex-1 truncate rounded-sm after:absolute after:inset-0 after:rounded-lg"
                >
                  {t(title)}
                </Link>
                <ChevronRight aria-hidden className="size-4 shrink-0 text-faint" />
              </p>
              <div className="min-h-5">{channel !== undefined && <StateLine doing={channel} />}</div>
            </li>
          );
        })}
      </ul>
    </Step>
  );
}

const NEXT = [
  { section: "models", title: "firstRun.model", text: "firstRun.modelText" },
  { section: "operators", title: "firstRun.people", text: "firstRun.peopleText" },
] as const;

/** Optional settings that many installations need soon. */
function NextSteps() {
  const { t } = useTexts();
  const project = useProject();
  const mayDo = useRights();
  if (!mayDo("admin:*")) return null;
  return (
    <nav aria-label={t("firstRun.next")} className="mt-6">
      <h2 className="text-sm font-semibold">{t("firstRun.next")}</h2>
      <ul className="mt-2 grid gap-2 sm:grid-cols-2">
        {NEXT.map(({ section, title, text }) => (
          <li key={section} className="relative rounded-lg border border-line p-3 transition-colors hover:border-edge">
            <Link
              to="/$project/administration/$section"
              params={{ project, section }}
              className="rounded-sm text-sm font-medium after:absolute after:inset-0 after:rounded-lg"
            >
              {t(title)}
            </Link>
            <p className="mt-0.5 text-sm text-muted">{t(text)}</p>
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** Guides an administrator from an empty installation to the first answered message. */
export function FirstRunPage() {
  const { t } = useTexts();
  const { storage } = useServices();
  const session = useSession();
  const project = useProject();
  const navigate = useNavigate();
  function leave() {
    skipFirstRun(storage, session);
    void navigate({ to: "/$project/inbox/$view", params: { project, view: "review" } });
  }
  return (
    <PageFrame
      width="narrow"
      title={t("firstRun.title")}
      text={t("firstRun.text")}
      actions={<Button onClick={leave}>{t("firstRun.leave")}</Button>}
    >
      <ol className="flex flex-col gap-4">
        <TeachStep number={1} />
        <ChannelStep number={2} />
        <TestStep number={3} />
      </ol>
      <NextSteps />
    </PageFrame>
  );
}
