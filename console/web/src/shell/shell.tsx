import { AppShell, Burger, Group, Loader, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { Link, Outlet } from "@tanstack/react-router";
import { lazy, Suspense, useEffect } from "react";
import { renameBrand } from "../api/tab.ts";
import iconUrl from "../icon.svg";
import { AccountMenu } from "./account-menu.tsx";
import { useBrandOfTab } from "../api/brand.ts";
import { BrandSwitcher } from "./brand-switcher.tsx";
import { Find } from "./find/find.tsx";
import { Navigation } from "./navigation.tsx";
import { ReceiverBanner } from "./receiver-banner.tsx";
import styles from "./shell.module.css";

const Interruption = lazy(() => import("./interruption.tsx"));

/** The frame around every screen of a signed-in person, and of the tab's brand. */
export function Shell() {
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
      <AppShell
        header={{ height: 56 }}
        {...(brand && { navbar: { width: 256, breakpoint: "sm", collapsed: { mobile: !isOpen } } })}
        padding={0}
        transitionDuration={0}
      >
        <AppShell.Header className={styles["header"]}>
          <Group h="100%" px="md" gap="sm" wrap="nowrap">
            {brand && <Burger opened={isOpen} onClick={toggle} hiddenFrom="sm" size="sm" aria-label="Navigation" aria-expanded={isOpen} />}
            <Link to="/developers" className={styles["logo"]}>
              <img src={iconUrl} alt="" width={26} height={26} />
              <span className={brand && styles["wide"]}>Brand Records</span>
            </Link>
            {/* A narrow screen has the switcher in its folded navigation. */}
            <Text hiddenFrom="sm" size="sm" fw={600} truncate title={name}>
              {name}
            </Text>
            <span className={styles["gap"]} />
            {brand && <Find />}
            <AccountMenu />
          </Group>
        </AppShell.Header>
        {brand && (
          <AppShell.Navbar className={styles["navbar"]} aria-label="Main">
            <BrandSwitcher />
            <Navigation onNavigate={close} />
          </AppShell.Navbar>
        )}
        <AppShell.Main id="content" tabIndex={-1} className={styles["main"]}>
          <div className={styles["content"]}>
            <Suspense fallback={<Loader aria-label="Loading" />}>
              {brand ? (
                <>
                  <ReceiverBanner />
                  {/* A dialog or a form of one brand does not become one of another. */}
                  <Outlet key={brand.brand_id} />
                </>
              ) : (
                <Interruption />
              )}
            </Suspense>
          </div>
        </AppShell.Main>
      </AppShell>
    </>
  );
}
