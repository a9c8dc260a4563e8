import { AppShell, Burger, Group, Loader } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { Link, Outlet } from "@tanstack/react-router";
import { Suspense } from "react";
import iconUrl from "../icon.svg";
import { AccountMenu } from "./account-menu.tsx";
import { BrandSwitcher } from "./brand-switcher.tsx";
import { LeftBrand } from "./left-brand.tsx";
import { Navigation } from "./navigation.tsx";
import { ReceiverBanner } from "./receiver-banner.tsx";
import styles from "./shell.module.css";

/** The frame around every screen of a signed-in person. */
export function Shell() {
  const [isOpen, { toggle, close }] = useDisclosure(false);
  return (
    <>
      <a className="skip-link" href="#content">
        Skip to the content
      </a>
      <AppShell
        header={{ height: 56 }}
        navbar={{ width: 256, breakpoint: "sm", collapsed: { mobile: !isOpen } }}
        padding={0}
        transitionDuration={0}
      >
        <AppShell.Header className={styles["header"]}>
          <Group h="100%" px="md" gap="sm" wrap="nowrap">
            <Burger opened={isOpen} onClick={toggle} hiddenFrom="sm" size="sm" aria-label="Navigation" aria-expanded={isOpen} />
            <Link to="/developers" className={styles["logo"]}>
              <img src={iconUrl} alt="" width={26} height={26} />
              Brand Records
            </Link>
            <span className={styles["gap"]} />
            <AccountMenu />
          </Group>
        </AppShell.Header>
        <AppShell.Navbar className={styles["navbar"]} aria-label="Main">
          <BrandSwitcher />
          <Navigation onNavigate={close} />
        </AppShell.Navbar>
        <AppShell.Main id="content" tabIndex={-1} className={styles["main"]}>
          <div className={styles["content"]}>
            <LeftBrand />
            <ReceiverBanner />
            <Suspense fallback={<Loader aria-label="Loading" />}>
              <Outlet />
            </Suspense>
          </div>
        </AppShell.Main>
      </AppShell>
    </>
  );
}
