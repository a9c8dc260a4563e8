import { Button, Group, Stack, Text } from "@mantine/core";
import { CopyableText } from "../../parts/copyable.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { useBrand } from "../../api/brand.ts";

/** What to send to a new member who signs in at the provider. */
export function HowToSignIn({ email, provider, onClose }: { readonly email: string; readonly provider: string | null; onClose(): void }) {
  const { brand_name } = useBrand();
  const where = provider === null ? "" : ` with your account at ${provider},`;
  const text = `You are now a member of ${brand_name} on Brand Records. Sign in at ${window.location.origin}/sign-in${where} with the e-mail address ${email}.`;
  return (
    <Dialog title={`${email} is a member now`} size="lg" isKept onClose={onClose}>
      <Stack>
        <Text>No mail is sent. Send this to the person:</Text>
        <CopyableText text={text} label="The text" />
        <Group justify="flex-end">
          <Button onClick={onClose}>Done</Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
