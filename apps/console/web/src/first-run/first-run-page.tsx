import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { ChevronRight } from "lucide-react";
import { keysQuery } from "../api/administration.ts";
import { channelOf } from "../api/channels.ts";
import { useTexts } from "../i18n/texts.ts";
import { StateLine } from "../integrations/channel-state.tsx";
import { INTEGRATIONS } from "../integrations/integrations.ts";
import { useChannels } from "../integrations/use-channel.ts";
import { useServices, useProject, useRights, useSession } from "../session/services.ts";
import { Button } from "../ui/button.tsx";
import { ErrorNotice } from "../ui/notice.tsx";
import { PageFrame } from "../ui/page-frame.tsx";
import { isReachable, skipFirstRun } from "./first-run-state.ts";
import { Step } from "./step.tsx";
import { TeachStep } from "./teach-step.tsx";
import { TestStep } from "./test-step.tsx";

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
