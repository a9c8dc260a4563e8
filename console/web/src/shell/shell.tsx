import { Loader, Text, UnstyledButton } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { Link, Outlet } from "@tanstack/react-router";
import { Suspense, useDeferredValue, useEffect } from "react";
import { renameBrand } from "../api/tab.ts";
import iconUrl from "../icon.svg";
import { AccountMenu } from "./account-menu.tsx";
import { MenuIcon, RemoveIcon } from "../parts/icons.tsx";
import { loadedPart } from "../parts/loaded-part.tsx";
import { LOADING } from "../parts/states.tsx";
import { BrandSwitcher, Navigation } from "./navigation.tsx";
import { Find } from "./find/find.tsx";
import { ReceiverBanner } from "./receiver-banner.tsx";
import styles from "./shell.module.css";
import { useBrandOfTab } from "../api/queries.ts";

const Interruption = loadedPart(async () => (await import("./interruption.tsx")).default, <Loader {...LOADING} />);

/** Dialogs hide the scroll bar: with this class of theirs, what is fixed does not grow by its width. */
const KEPT_WIDTH = "right-scroll-bar-position";

/**
 * The frame around every screen of a signed-in person, and of the tab's brand.
 *
 * The router gives a page's first state in one go, which would block a slow phone. Deferred, React renders it in pieces of a few
 * milliseconds, below the frame that came with the HTML. A reloaded page and one that Back leads to are scrolled to their place when that first
 * state shows, so it must be all there.
 */
export function Shell() {
  return useDeferredValue(true, !isFirstVisit()) && <Frame />;
}

/** Whether the frame of the HTML still shows, and the page has no earlier place to be scrolled to. */
function isFirstVisit(): boolean {
  const [visit] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
  return document.querySelector(".first") !== null && visit?.type === "navigate";
}

function Frame() {
  const [isOpen, { toggle, close }] = useDisclosure(false);
  const brand = useBrandOfTab();
  const name = brand?.brand_name;
  useEffect(() => {
    if (name !== undefined) renameBrand(name);
  }, [name]);
  return (
    <>
      <a className="skip-link" href="#content">
        Skip to the content
      </a>
      <header className={`${styles["header"]} ${KEPT_WIDTH}`}>
        {brand && (
          <UnstyledButton onClick={toggle} hiddenFrom="sm" p="var(--space-4)" aria-label="Navigation" aria-expanded={isOpen}>
            {isOpen ? <RemoveIcon size={24} /> : <MenuIcon size={24} />}
          </UnstyledButton>
        )}
        <Link to="/developers" className={styles["logo"]}>
          <img src={iconUrl} alt="" width={26} height={26} />
          <span className={brand && styles["wide"]}>Brand Records</span>
        </Link>
        {/* A narrow screen has the switcher in its folded navigation. */}
        <Text hiddenFrom="sm" size="sm" fw={600} truncate title={name}>
          {name}
        </Text>
        <span style={{ flex: 1 }} />
        {brand && <Find />}
        <AccountMenu />
      </header>
      {brand && (
        <nav className={styles["navbar"]} aria-label="Main" data-open={isOpen || undefined}>
          <BrandSwitcher />
          <Navigation onNavigate={close} />
        </nav>
      )}
      <main id="content" tabIndex={-1} className={styles["main"]} data-alone={brand === undefined || undefined}>
        <div className={styles["content"]}>
          <Suspense fallback={<Loader {...LOADING} />}>
            {brand ? (
              <>
                <ReceiverBanner />
                {/* A dialog or a form of one brand does not become one of another. */}
                <Outlet key={brand.brand_id} />
                <footer className={styles["footer"]}>Times are in Asia/Manila (UTC+08:00).</footer>
              </>
            ) : (
              <Interruption />
            )}
          </Suspense>
        </div>
      </main>
    </>
  );
}
