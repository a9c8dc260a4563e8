import { AppError } from "@brand-records/errors";
import {
  AuditServiceService,
  type AuditEntry,
  type ExportAuditRequest,
  type ExportAuditResponse,
  type ListAuditRequest,
} from "@brand-records/proto/accounts/v1";
import { service, type ServedService } from "@brand-records/rpc";

/** An audit log in memory, newest first: what brandctl needs. */
export class FakeAudit {
  readonly entries: AuditEntry[] = [];
  /** Requests for lists. */
  readonly requests: ListAuditRequest[] = [];
  /** Requests for pages of an export. */
  readonly exportRequests: ExportAuditRequest[] = [];
  /** Entries on a page of an export at most. */
  exportPageSize = 2;
  /** Runs before a page of an export is returned. */
  beforeExportPage: (request: ExportAuditRequest) => void | Promise<void> = () => {};
  /** Everything before is returned by an export. */
  settledUntil = "2026-11-22T00:00:00.000Z";
  /** Called with each entry, before it is written. */
  onAppend: () => void = () => {};
  /** Thrown when an outcome is written. */
  finishError: AppError | undefined;

  readonly served: readonly ServedService[] = [
    service(AuditServiceService, {
      appendAudit: async (request) => {
        this.onAppend();
        const entry = { ...request, id: `aud_${this.entries.length}`, created_at: "2026-11-21T08:30:00.000Z", tries: 1 };
        this.entries.unshift(entry);
        return { entry };
      },
      finishAudit: async ({ brand_id, entry_id, outcome, error_kind, subject_id }) => {
        if (this.finishError !== undefined) throw this.finishError;
        const entry = this.entries.find((one) => one.brand_id === brand_id && one.id === entry_id);
        if (entry === undefined) throw new AppError("not_found", "There is no audit entry with this id", { field: "entry_id" });
        Object.assign(entry, { outcome, error_kind, subject_id: entry.subject_id ?? subject_id, finished_at: "2026-11-21T08:30:01.000Z" });
        return { entry };
      },
      listAudit: async (request) => {
        this.requests.push(request);
        const from = Number(request.page_token ?? "0");
        const end = from + request.page_size;
        const entries = this.entries.filter(({ brand_id }) => brand_id === request.brand_id);
        return { entries: entries.slice(from, end), next_page_token: end < entries.length ? String(end) : null };
      },
      exportAudit: (request) => this.exportPage(request),
    }),
  ];

  async exportPage(request: ExportAuditRequest): Promise<ExportAuditResponse> {
    this.exportRequests.push(request);
    await this.beforeExportPage(request);
    const after = request.page_token ?? `${request.since ?? ""} `;
    const entries = this.entries
      .filter((entry) => positionOf(entry) > after && positionOf(entry) < this.settledUntil)
      .toSorted((a, b) => (positionOf(a) < positionOf(b) ? -1 : 1));
    const page = entries.slice(0, Math.min(this.exportPageSize, request.page_size));
    const last = page.at(-1);
    return {
      entries: page,
      next_page_token: last === undefined ? request.page_token : positionOf(last),
      end_reached: page.length === entries.length,
      settled_until: this.settledUntil,
    };
  }
}

/** Where an entry stands in an export. */
const positionOf = ({ id, created_at, finished_at }: AuditEntry): string => `${finished_at ?? created_at} ${id}`;
