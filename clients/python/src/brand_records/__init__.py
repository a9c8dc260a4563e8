from .client import BrandRecords as BrandRecords
from .errors import BrandRecordsError as BrandRecordsError, ErrorCode as ErrorCode
from .generated.api import *  # noqa: F403
from .record_list import Page as Page, RecordList as RecordList
from .response_meta import RateLimit as RateLimit, ResponseMeta as ResponseMeta
from .sqlite_store import SqliteStore as SqliteStore
from .sync import SyncPage as SyncPage, SyncState as SyncState, SyncStore as SyncStore
from .sync import MergeOutcome as MergeOutcome, merge_event as merge_event
from .transport import Retry as Retry
from .webhooks import DeliveryError as DeliveryError, DeliveryProblem as DeliveryProblem
from .webhooks import is_known_event as is_known_event, verify_delivery as verify_delivery
