import { useLocation, useNavigate } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useRef, useState } from "react";
import { Notice } from "../parts/states.tsx";
import { announce } from "../parts/status-region.tsx";
import { chooseBrand, useBrand, useMe } from "./brand.tsx";
import { forgetUnsaved, unsavedOf, type UnsavedTexts } from "./unsaved.ts";

const UnsavedText = lazy(async () => ({ default: (await import("../screens/plans/unsaved-text.tsx")).UnsavedText }));

const OVERVIEW = "/developers";

/** Leads to the overview of the brand that shows instead when the person is removed from the brand of this page, and says so there. */
export function LeftBrand() {
  const { memberships } = useMe();
  const { brand_id, brand_name } = useBrand();
  const shown = useRef({ brand_id, brand_name });
  const [left, setLeft] = useState<{ readonly name: string; readonly texts: UnsavedTexts }>();
  const navigate = useNavigate();
  const { pathname } = useLocation();
  useEffect(() => {
    const before = shown.current;
    shown.current = { brand_id, brand_name };
    if (before.brand_id === brand_id || memberships.some((one) => one.brand_id === before.brand_id)) return;
    chooseBrand(brand_id);
    setLeft({ name: before.brand_name, texts: unsavedOf(before.brand_id) });
    forgetUnsaved();
    announce(textOf(before.brand_name, brand_name));
    void navigate({ to: OVERVIEW });
  }, [brand_id, brand_name, memberships, navigate]);
  if (left === undefined || pathname !== OVERVIEW) return null;
  return (
    <>
      <Notice tone="warning">{textOf(left.name, brand_name)}</Notice>
      {Object.keys(left.texts).length > 0 && (
        <Suspense>
          <UnsavedText texts={left.texts} reason={`You were removed from ${left.name} while you edited a plan.`} />
        </Suspense>
      )}
    </>
  );
}

const textOf = (left: string, shown: string): string => `You are no longer a member of ${left}. This is ${shown}.`;
