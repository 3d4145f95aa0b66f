import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import type { ReactNode } from "react";
import { useTexts } from "../i18n/texts.ts";
import { useServices } from "../session/services.ts";
import { imageOf, useAddress } from "../ui/image.ts";

/** True once the element is near the visible part of the page. */
function useIsNear(element: { current: HTMLElement | null }): boolean {
  const [isNear, setNear] = useState(false);
  useEffect(() => {
    if (element.current === null) return undefined;
    const observer = new IntersectionObserver(([entry]) => {
      if (entry?.isIntersecting === true) setNear(true);
    });
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [element]);
  return isNear;
}

/** A small picture of a chosen file; `children` if it is not a PNG, JPEG, GIF or WebP. */
export function ImageThumb({ file, children }: { file: File; children: ReactNode }) {
  const [image, setImage] = useState<Blob | null>(null);
  useEffect(() => {
    let isShown = true;
    const show = async () => {
      const found = imageOf(await file.arrayBuffer());
      if (isShown) setImage(found);
    };
    // A file that can no longer be read has no thumbnail; its upload reports the error.
    show().catch(() => undefined);
    return () => {
      isShown = false;
    };
  }, [file]);
  const address = useAddress(image);
  return address === null ? children : <img src={address} alt="" className="size-8 shrink-0 rounded object-cover" />;
}

/**
 * An image of a conversation, small until it is clicked; nothing if the file is not a PNG, JPEG, GIF or WebP. It is
 * loaded when it becomes visible, and shown only as an image, never as a page.
 */
export function ImageView({
  ticket: { id, project },
  fileId,
  name,
}: {
  ticket: { id: string; project: string };
  fileId: string;
  name: string;
}) {
  const { t } = useTexts();
  const { connection } = useServices();
  const place = useRef<HTMLDivElement>(null);
  const isNear = useIsNear(place);
  const [isLarge, setLarge] = useState(false);
  // A file may begin like an image and be damaged: its name is shown below, so no broken picture is needed.
  const [isBroken, setBroken] = useState(false);
  const { data = null } = useQuery({
    queryKey: ["image", project, id, fileId],
    enabled: isNear,
    staleTime: Infinity,
    queryFn: async () => imageOf(await connection.fetchFile(`/api/v1/admin/tickets/${id}/files/${fileId}`, project)),
  });
  const address = useAddress(data);
  return (
    <div ref={place}>
      {address !== null && !isBroken && (
        <button
          type="button"
          aria-expanded={isLarge}
          title={t("ticket.enlarge")}
          onClick={() => setLarge((shown) => !shown)}
          className="mb-1 block max-w-full"
        >
          <img
            src={address}
            alt={name}
            onError={() => setBroken(true)}
            className={`max-w-full rounded-lg border border-line ${isLarge ? "" : "max-h-40"}`}
          />
        </button>
      )}
    </div>
  );
}
