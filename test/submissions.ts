import { newId } from "@brand-records/ids";
import type { Database } from "@brand-records/postgres";

/** Adds a submission, as the platform does. @returns its id */
export async function addSubmission(db: Database, brandId: string, status = "pending"): Promise<string> {
  const id = newId("sub");
  await db.query(
    `insert into records.submissions (brand_id, id, created_at, updated_at, campaign_id, creator_id, status, platform, content_url,
       earned_centavos, currency, submitted_at)
     values ($1, $2, now(), now(), 'cmp_1', 'crt_1', $3, 'tiktok', 'https://video.example/1', 12000, 'PHP', now())`,
    [brandId, id, status],
  );
  return id;
}

/** Adds submissions and approves each, which makes an event. @returns their ids */
export async function approveNew(db: Database, brandId: string, count = 1, before = "pending"): Promise<string[]> {
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const id = await addSubmission(db, brandId, before);
    await db.query("update records.submissions set status = 'approved', reviewed_at = now() where brand_id = $1 and id = $2", [
      brandId,
      id,
    ]);
    ids.push(id);
  }
  return ids;
}
