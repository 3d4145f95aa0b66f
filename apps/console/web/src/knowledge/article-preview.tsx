import { useQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useState } from "react";
import { useTexts } from "../i18n/texts.ts";
import { useProject, useServices } from "../session/services.ts";
import { Markdown, OwnImages } from "../ui/markdown.tsx";
import { readImage } from "../ui/files.ts";

/** A larger image could exhaust the memory of the page: 25 megapixels take 100 MB. */
const MAX_PIXELS = 25_000_000;
const OWN_IMAGE = /^images\/([\da-f-]{36})$/i;

/** An image of an article; its description while it loads, or if it cannot be shown. */
function ArticleImage({ articleId, imageId, alt }: { articleId: string; imageId: string; alt: string }) {
  const { connection } = useServices();
  const project = useProject();
  const [address, setAddress] = useState<string | null>(null);
  const { data = null } = useQuery({
    queryKey: ["article-image", project, articleId, imageId],
    staleTime: Infinity,
    queryFn: async () => {
      const bytes = await connection.fetchFile(`/api/v1/admin/articles/${articleId}/images/${imageId}`, project);
      const image = readImage(bytes);
      const isShown = image !== null && image.width * image.height <= MAX_PIXELS;
      return isShown ? new Blob([bytes], { type: image.type }) : null;
    },
  });
  useEffect(() => {
    if (data === null) return undefined;
    const created = URL.createObjectURL(data);
    setAddress(created);
    return () => URL.revokeObjectURL(created);
  }, [data]);
  if (address === null) return <>{alt}</>;
  return <img src={address} alt={alt} className="max-h-96 max-w-full rounded-lg border border-line" />;
}

/** An article as Markdown, rendered like answers, with its own images. */
export function ArticlePreview({ articleId, title, text }: { articleId: string; title: string; text: string }) {
  const { t } = useTexts();
  const show = useCallback(
    (href: string, alt: string) => {
      const imageId = OWN_IMAGE.exec(href)?.[1];
      return imageId === undefined ? null : <ArticleImage articleId={articleId} imageId={imageId} alt={alt} />;
    },
    [articleId],
  );
  return (
    <>
      <p className="mb-3 text-sm text-muted">{t("article.previewText")}</p>
      <article className="max-w-2xl rounded-xl border border-line bg-surface p-5 text-sm">
        <h2 className="mb-2 text-lg font-semibold wrap-anywhere" dir="auto">
          {title}
        </h2>
        <OwnImages value={show}>
          <Markdown text={text} />
        </OwnImages>
      </article>
    </>
  );
}
